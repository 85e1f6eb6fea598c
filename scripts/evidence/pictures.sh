#!/bin/sh
# pictures.sh - draws docs/pictures from docs/develop/pictures, by Graphviz (Debian's graphviz); --check: whether it has.
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../../docs/develop/pictures"
[ "${1-}" != --check ] || exec sha256sum --check --quiet SHA256SUMS
for drawing in *.dot; do
    title=$(sed -n '1s/^digraph "\(.*\)" {$/\1/p' "$drawing")
    dot -Tpng -Gdpi=90 -Glabel="$title" -Glabelloc=t -Gfontname=Helvetica -Gfontsize=12 -Granksep=0.3 -Gnodesep=0.4 \
        -Nshape=box -Nfontname=Helvetica -Nfontsize=10 -Efontname=Helvetica-Oblique -Efontsize=9 -Earrowsize=0.7 \
        -o "../../pictures/${drawing%.dot}.png" "$drawing"
done
sha256sum ./*.dot ../../pictures/*.png >SHA256SUMS
