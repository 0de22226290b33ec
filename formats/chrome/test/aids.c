/* Aids of Chrome JSON for tests and benchmarks. */
#include <inttypes.h>
#include <stdio.h>

#include "test/support/format_aids.h"
#include "test/support/splitmix.h"

/*
 * A trace like those of Kineto for a program on a GPU: operators of a CPU thread, each with a call that
 * starts a kernel, the kernel on one of four streams, and the arrow between them; some 260 bytes per event.
 */
static const char *const ops[] = { "aten::add_",
	                           "aten::empty",
	                           "aten::copy_",
	                           "aten::mm",
	                           "aten::_to_copy",
	                           "aten::layer_norm",
	                           "autograd::engine::evaluate_function: AddmmBackward0" };
static const char *const kernels[] = {
	"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
	"std::array<char*, 3ul> >(int, "
	"at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
	"ampere_sgemm_128x64_tn",
	"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x128_32x3_tn_align4>(Params)",
};

static void put_start(FILE *f, const char *ph, const char *cat, const char *name, unsigned pid, unsigned tid)
{
	fprintf(f, "  {\n    \"ph\": \"%s\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %u, \"tid\": %u,\n",
	        ph, cat, name, pid, tid);
}

static void put_time(FILE *f, uint64_t ts, uint64_t dur)
{
	fprintf(f, "    \"ts\": %" PRIu64 ".%03u, \"dur\": %" PRIu64 ".%03u,\n", ts / 1000,
	        (unsigned)(ts % 1000), dur / 1000, (unsigned)(dur % 1000));
}

static void put_arrow(FILE *f, const char *ph, uint64_t id, unsigned pid, unsigned tid, uint64_t ts)
{
	fprintf(f,
	        "  {\n    \"ph\": \"%s\", \"id\": %" PRIu64 ", \"pid\": %u, \"tid\": %u, \"ts\": %" PRIu64
	        ".%03u,\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"%s\n  },\n",
	        ph, id, pid, tid, ts / 1000, (unsigned)(ts % 1000), *ph == 'f' ? ", \"bp\": \"e\"" : "");
}

/* An operator, its call, the kernel, and the arrow: five events. */
static void put_launch(FILE *f, uint64_t i, uint64_t r)
{
	const uint64_t ts = UINT64_C(1212076812896721) + i * 9000, dur = 4000 + r % 4000;
	const unsigned stream = 7 + (unsigned)(r >> 20 & 3);

	put_start(f, "X", "cpu_op", ops[r % 7], 1074, 1074);
	put_time(f, ts, dur);
	fprintf(f,
	        "    \"args\": {\n      \"External id\": %" PRIu64
	        ",\"Record function id\": 0, \"Concrete Inputs\": "
	        "[\"\", \"\", \"1\"], \"Input type\": [\"float\", \"float\", \"Scalar\"], \"Input Dims\": "
	        "[[%u, 768], "
	        "[768], []], \"Ev Idx\": %" PRIu64 "\n    }\n  },\n",
	        i + 1, (unsigned)(r >> 32 & 1023), i);
	put_start(f, "X", "cuda_runtime", "cudaLaunchKernel", 1074, 1074);
	put_time(f, ts + 500, dur / 2);
	fprintf(f,
	        "    \"args\": {\n      \"External id\": %" PRIu64
	        ", \"cbid\": 211, \"correlation\": %" PRIu64 "\n    }\n  },\n",
	        i + 1, i + 1);
	put_arrow(f, "s", i + 1, 1074, 1074, ts + 500);
	put_start(f, "X", "kernel", kernels[r % 3], 0, stream);
	put_time(f, ts + 6000, 1000 + (r >> 40) % 7000);
	fprintf(f,
	        "    \"args\": {\n      \"External id\": %" PRIu64
	        ", \"queued\": 0, \"device\": 0, \"context\": 1,\n"
	        "      \"stream\": %u, \"correlation\": %" PRIu64
	        ",\n      \"registers per thread\": 32,\n      \"shared memory\": 0,\n      \"blocks per "
	        "SM\": %u.5,\n"
	        "      \"grid\": [%u, 1, 1],\n      \"block\": [128, 1, 1],\n      \"est. achieved occupancy "
	        "%%\": "
	        "%u\n    }\n  },\n",
	        i + 1, stream, i + 1, (unsigned)(r >> 8 & 15), (unsigned)(r >> 12 & 255),
	        (unsigned)(r >> 16 & 63));
	put_arrow(f, "f", i + 1, 0, stream, ts + 6000);
}

static bool make_kineto(FILE *f, uint64_t events)
{
	uint64_t random = 1;

	fputs("{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      \"id\": 0, \"name\": "
	      "\"GPU\", "
	      "\"totalGlobalMem\": 85048295424\n    }\n  ],\n  \"displayTimeUnit\": \"ms\",\n  "
	      "\"baseTimeNanoseconds\": 1711964646000000000,\n  \"traceEvents\": [\n",
	      f);
	for (uint64_t i = 0; i < events / 5; i++)
		put_launch(f, i, splitmix_next(&random));
	fputs("  {\n    \"name\": \"process_name\", \"ph\": \"M\", \"ts\": 1212076812896.721, \"pid\": 1074, "
	      "\"tid\": 0,\n"
	      "    \"args\": {\n      \"name\": \"python\"\n    }\n  }\n  ],\n  \"traceName\": "
	      "\"kineto.json\"\n}\n",
	      f);
	return !ferror(f);
}

static const struct bench_input bench_inputs[] = {
	{ "kineto", ".json", 1900000, make_kineto, NULL },
	{ 0 },
};

extern const struct format_aids chrome_aids;

static const char *const fault_samples[] = { "good/object.json", NULL };

const struct format_aids chrome_aids = {
	.format = "chrome",
	.bench_inputs = bench_inputs,
	.fault_samples = fault_samples,
};
