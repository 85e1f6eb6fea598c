// bench.cc - the peers of drng under Google Benchmark; scripts/bench.sh runs it and makes tables of its JSON.
//
// Names: bytes/WAY/SIZE, seed/INSTRUCTION/HOW, thread/WAY/WHAT. A line for each repetition, no aggregates:
// scripts/bench/bench_report.py makes those.

#include <benchmark/benchmark.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <openssl/crypto.h>

#include "tests/bench/peers.h"

namespace
{

constexpr size_t sizes[] = {16, 32, 64, 256, 1 << 10, 1 << 14, 1 << 16, 1 << 20};

// ---- bytes: requests of one size, from one to all CPUs at once ----

void bytes(benchmark::State &state, const bench_peer &peer, size_t size)
{
    std::vector<uint8_t> out(size);
    if (!peer.fill(peer.arg, out.data(), size)) { // the thread's generator is there before the clock starts
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

// 1, 2, 4 ... and all of them.
std::vector<int> thread_counts()
{
    const int cpus = static_cast<int>(std::thread::hardware_concurrency());
    std::vector<int> counts;
    for (int count = 1; count < cpus; count *= 2) {
        counts.push_back(count);
    }
    counts.push_back(cpus < 1 ? 1 : cpus);
    return counts;
}

void register_bytes(const bench_peer &peer)
{
    for (const size_t size : sizes) {
        const std::string name = std::string("bytes/") + peer.name + "/" + std::to_string(size);
        for (const int threads : thread_counts()) {
            benchmark::RegisterBenchmark(name.c_str(), bytes, peer, size)->Threads(threads)->UseRealTime();
        }
    }
}

// ---- seed ----

void seed(benchmark::State &state, bool (*make)(unsigned), unsigned instruction)
{
    int64_t missed = 0;
    for (auto _ : state) {
        missed += make(instruction) ? 0 : 1;
    }
    state.counters["missed"] = benchmark::Counter(static_cast<double>(missed), benchmark::Counter::kAvgIterations);
}

void register_seeds()
{
    bench_seed seeds[BENCH_MAX_SEEDS];
    const size_t count = bench_seeds(seeds);
    for (size_t i = 0; i < count; i++) {
        const std::string name = std::string("seed/") + seeds[i].name;
        benchmark::RegisterBenchmark((name + "/drng").c_str(), seed, seeds[i].seed, seeds[i].instruction);
        benchmark::RegisterBenchmark((name + "/back-to-back").c_str(), seed, seeds[i].back_to_back,
                                     seeds[i].instruction);
    }
}

// ---- thread: the first byte, in a thread that has just begun, and such a thread from start to end ----

using steady = std::chrono::steady_clock;

double seconds_since(steady::time_point begin)
{
    return std::chrono::duration<double>(steady::now() - begin).count();
}

double draw_first_byte(const bench_peer &peer, bool *drawn)
{
    uint8_t byte = 0;
    const auto begin = steady::now();
    *drawn = peer.fill(peer.arg, &byte, sizeof(byte));
    return seconds_since(begin);
}

void thread_start(benchmark::State &state, const bench_peer &peer, bool whole)
{
    for (auto _ : state) {
        double first = 0;
        bool drawn = false;
        const auto begin = steady::now();
        std::thread([&] { first = draw_first_byte(peer, &drawn); }).join();
        state.SetIterationTime(whole ? seconds_since(begin) : first);
        if (!drawn) {
            state.SkipWithError("no byte");
            return;
        }
    }
}

void register_threads(const bench_peer &peer)
{
    const std::string name = std::string("thread/") + peer.name;
    benchmark::RegisterBenchmark((name + "/first-byte").c_str(), thread_start, peer, false)->UseManualTime();
    benchmark::RegisterBenchmark((name + "/start-to-end").c_str(), thread_start, peer, true)->UseManualTime();
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

bool through_libcrypto_per_thread(const bench_peer &peer)
{
    const std::string name = peer.name;
    return name == "CTR-DRBG" || name == "drng" || name == "drng-mixing" ||
           name == "random_provider" || name == "random_provider-mixing";
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
        if (through_libcrypto_per_thread(peers[i])) {
            register_threads(peers[i]);
        }
    }
    register_seeds();
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
