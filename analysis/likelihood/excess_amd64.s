#include "textflag.h"

// func excessAVX2(before, x *uint64, blocks int) int64
//
// A block is 16 words, four vectors of eight columns. With G the guard bit,
// max(p′+G−x, G) = G + max(0, p′−x); either sum gets G an even number of times a block,
// which is 0 modulo 2^32.
TEXT ·excessAVX2(SB), NOSPLIT, $0-32
	MOVQ before+0(FP), SI
	MOVQ x+8(FP), DI
	MOVQ blocks+16(FP), CX
	VPCMPEQD Y7, Y7, Y7
	VPSRLQ   $32, Y7, Y6 // the low column of each word
	VPSLLD   $31, Y7, Y7 // guard bits
	VPXOR    Y0, Y0, Y0
	VPXOR    Y1, Y1, Y1
	TESTQ    CX, CX
	JZ       sum

loop:
	VMOVDQU 0(SI), Y2
	VMOVDQU 32(SI), Y3
	VMOVDQU 64(SI), Y4
	VMOVDQU 96(SI), Y5
	VPSUBD  0(DI), Y2, Y2
	VPSUBD  32(DI), Y3, Y3
	VPSUBD  64(DI), Y4, Y4
	VPSUBD  96(DI), Y5, Y5
	VPMAXUD Y7, Y2, Y2
	VPMAXUD Y7, Y3, Y3
	VPMAXUD Y7, Y4, Y4
	VPMAXUD Y7, Y5, Y5
	VPADDD  Y2, Y0, Y0
	VPADDD  Y3, Y1, Y1
	VPADDD  Y4, Y0, Y0
	VPADDD  Y5, Y1, Y1
	ADDQ    $128, SI
	ADDQ    $128, DI
	DECQ    CX
	JNZ     loop

sum:
	VPAND        Y6, Y0, Y2
	VPSRLQ       $32, Y0, Y0
	VPADDQ       Y2, Y0, Y0
	VPAND        Y6, Y1, Y2
	VPSRLQ       $32, Y1, Y1
	VPADDQ       Y2, Y1, Y1
	VPADDQ       Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDQ       X1, X0, X0
	VPSRLDQ      $8, X0, X1
	VPADDQ       X1, X0, X0
	VMOVQ        X0, AX
	MOVQ         AX, ret+24(FP)
	VZEROUPPER
	RET
