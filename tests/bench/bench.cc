// bench.cc - the peers of drng under Google Benchmark; scripts/bench.sh runs it and makes tables of its JSON.
//
// Names: bytes/WAY/SIZE. A line for each repetition, no aggregates: scripts/bench/bench_report.py makes those.

#include <benchmark/benchmark.h>

#include <fstream>
#include <string>
#include <vector>

#include <openssl/crypto.h>

#include "tests/bench/peers.h"

namespace
{

constexpr size_t sizes[] = {16, 32, 64, 256, 1 << 10, 1 << 14, 1 << 16, 1 << 20};

// ---- bytes: requests of one size ----

void bytes(benchmark::State &state, const bench_peer &peer, size_t size)
{
    std::vector<uint8_t> out(size);
    if (!peer.fill(peer.arg, out.data(), size)) { // the generator is there before the clock starts
        state.SkipWithError("the first request failed");
        return;
    }
    for (auto _ : state) {
        if (!peer.fill(peer.arg, out.data(), size)) {
            state.SkipWithError("a request failed");
            return;
        }
        benchmark::DoNotOptimize(out.data());
    }
}

void register_bytes(const bench_peer &peer)
{
    for (const size_t size : sizes) {
        const std::string name = std::string("bytes/") + peer.name + "/" + std::to_string(size);
        benchmark::RegisterBenchmark(name.c_str(), bytes, peer, size);
    }
}

// ---- What the figures are of ----

std::string cpu_model()
{
    std::ifstream cpuinfo("/proc/cpuinfo");
    for (std::string line; std::getline(cpuinfo, line);) {
        if (line.rfind("model name", 0) == 0) {
            return line.substr(line.find(':') + 2);
        }
    }
    return "unknown";
}

} // namespace

int main(int argc, char **argv)
{
    static bench_peer peers[BENCH_MAX_PEERS];
    const size_t count = bench_peers(peers);
    if (count == 0) {
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        register_bytes(peers[i]);
    }
    benchmark::AddCustomContext("openssl", OpenSSL_version(OPENSSL_VERSION));
    benchmark::AddCustomContext("cpu", cpu_model());
    benchmark::AddCustomContext("aes", bench_aes_name());
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 1;
    }
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
