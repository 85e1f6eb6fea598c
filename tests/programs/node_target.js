// node_target.js - draws and serves TLS, and does what the lines on its standard input say, one answer each.
//
// Its arguments are a certificate and a key, for the server alone.
// Lives until its input ends.

'use strict';

const crypto = require('crypto');
const fs = require('fs');
const readline = require('readline');
const tls = require('tls');

const [, , certificate, key] = process.argv;

const orders = {
    // So many bytes, so many times.
    draw(times, length) {
        for (let i = 0; i < times; i++) {
            crypto.randomBytes(length);
        }
        return 'drawn';
    },
    serve() {
        const server = tls.createServer({ cert: fs.readFileSync(certificate), key: fs.readFileSync(key) }, (socket) => {
            socket.on('error', () => {});
            socket.end('served\n');
        });
        return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));
    },
    version() {
        return process.versions.openssl;
    },
};

readline.createInterface({ input: process.stdin }).on('line', async (line) => {
    const [name, ...values] = line.split(' ');
    console.log(String(await orders[name](...values.map(Number))));
}).on('close', () => process.exit(0));
