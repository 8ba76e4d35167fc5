// Functions of CUDA, cuBLAS and cuDNN that compute nothing; nothing.sh adds those that only succeed.
#include <stdlib.h>
#include <string.h>
static int give(void **p, size_t n) { return posix_memalign(p, 256, n + 256) ? 2 : (memset(*p, 0, n + 256), 0); }
static int one(void **p) { return give(p, 64); }
int cudaMalloc(void **p, size_t n) { return give(p, n); }
int cudaMallocHost(void **p, size_t n) { return give(p, n); }
int cudaHostAlloc(void **p, size_t n) { return give(p, n); }
int cudaMallocFromPoolAsync(void **p, size_t n) { return give(p, n); }
int cudaFree(void *p) { return free(p), 0; }
int cudaFreeHost(void *p) { return free(p), 0; }
int cudaFreeAsync(void *p) { return free(p), 0; }
int cudaMemcpy(void *to, void *from, size_t n) { return memmove(to, from, n), 0; }
int cudaMemcpyAsync(void *to, void *from, size_t n) { return memmove(to, from, n), 0; }
int cudaMemset(void *p, int x, size_t n) { return memset(p, x, n), 0; }
int cudaMemsetAsync(void *p, int x, size_t n) { return memset(p, x, n), 0; }
int cudaMemGetInfo(size_t *available, size_t *all) { return *available = *all = 16ul << 30, 0; }
int cudaGetDeviceCount(int *n) { return *n = 1, 0; }
int cudaGetDevice(int *n) { return *n = 0, 0; }
int cudaRuntimeGetVersion(int *n) { return *n = 13000, 0; }
int cudaDriverGetVersion(int *n) { return *n = 13000, 0; }
int cudaDeviceGetAttribute(int *x, int which) {
	switch (which) {
	case 1: case 39: return *x = 1024, 0; // threads
	case 10: return *x = 32, 0; // of a warp
	case 16: return *x = 132, 0; // multiprocessors
	case 75: return *x = 8, 0; // compute capability 8.0: with 9.0 cuDNN plans attention
	case 76: return *x = 0, 0;
	}
	return *x = 1 << 16, 0;
}
int cudaGetDeviceProperties(char *p) { // at the places of CUDA 13
	static const int at[][2] = {{304, 65536}, {308, 32}, {320, 1024}, {324, 1024}, {328, 1024}, {332, 64}, {336, 0x7fffffff}, {340, 65535},
		{344, 65535}, {360, 8}, {384, 132}, {596, 50 << 20}, {604, 2048}, {624, 167936}, {672, 166912}};
	memset(p, 0, 1008);
	*(long *)(p + 288) = 16l << 30;
	*(long *)(p + 296) = 49152;
	for (int i = 0; i < sizeof at / sizeof *at; i++)
		*(int *)(p + at[i][0]) = at[i][1];
	return 0;
}
int cudaFuncGetAttributes(char *p) { return memset(p, 0, 144), *(int *)(p + 24) = 1024, *(int *)(p + 32) = *(int *)(p + 36) = 80, 0; }
int cudaStreamCreate(void **p) { return one(p); }
int cudaStreamCreateWithFlags(void **p) { return one(p); }
int cudaStreamIsCapturing(void *s, int *x) { return *x = 0, 0; }
int cudaEventCreate(void **p) { return one(p); }
int cudaEventCreateWithFlags(void **p) { return one(p); }
int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n) { return *n = 2, 0; }
int cudaLaunchHostFunc(void *s, void (*f)(void *), void *x) { return f(x), 0; }
int __cudaGetKernel(void **k, void *f) { return *k = f, 0; }
void *__cudaRegisterFatBinary(void) { return malloc(64); }
const char *cudaGetErrorString(void) { return "nothing"; }
const char *cudaGetErrorName(void) { return "nothing"; }
int cublasCreate_v2(void **p) { return one(p); }
int cublasGetMathMode(void *h, int *x) { return *x = 0, 0; }
int cublasLtCreate(void **p) { return one(p); }
int cublasLtMatmulDescCreate(void **p) { return one(p); }
int cublasLtMatrixLayoutCreate(void **p) { return one(p); }
int cublasLtMatmulPreferenceCreate(void **p) { return one(p); }
int cublasLtMatmulAlgoGetHeuristic(void *h, void *d, void *a, void *b, void *c, void *e, void *p, int n, void *r, int *got) { return memset(r, 0, 80), *got = 1, 0; }
int cudnnCreate(void **p) { return one(p); }
long cudnnGetVersion(void) { return 91900; }
int cudnnCreateTensorDescriptor(void **p) { return one(p); }
int cudnnCreateReduceTensorDescriptor(void **p) { return one(p); }
int cudnnGetReductionWorkspaceSize(void *h, void *d, void *a, void *c, size_t *n) { return *n = 256, 0; }
