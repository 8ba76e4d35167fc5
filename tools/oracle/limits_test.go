package oracle

// All maximum differences.
const (
	// lawsLimit is for exact values, relative to max(1, |value|): they are accurate to 1e-12,
	// integrals to 1e-11.
	lawsLimit = 1e-10
	// rateIntegralLimit is for the rate integrals of Euler's law: both sides are quadratures with
	// their own errors.
	rateIntegralLimit = 10 * lawsLimit
	// float32Limit is for MDLM's draw in float32: the reference used a different float32 logarithm,
	// which changes it by up to 1e-9.
	float32Limit = 10 * lawsLimit

	// windowsLimit is for exact likelihoods of windows under a float32 network, relative.
	windowsLimit = 2e-5
	// lossesLimit is for losses of public implementations under a float32 network, relative. Their
	// own float32 values may differ by what the file states.
	lossesLimit = 1e-4
	// goldenLimit is for two correct float32 executions: twice the largest floor of the reference
	// files except LLaDA's, 7.6e-6, rounded up. lladaLimit is for LLaDA's, whose floor is 1.5e-5.
	goldenLimit = 2e-5
	lladaLimit  = 4e-5

	// singleNoise is the float32 error of the log-linear noise, relative to max(1, |value|): near t
	// = 1 it is computed from 1 − 0.999·t, of size 1e-3, and 1/(1 − 0.999·t), each with an error of
	// 1e-7.
	singleNoise = 1e-4
	// doubleNoise is the same for float64.
	doubleNoise = 1e-12

	// longCount is the least count whose last step may depend on the order of a long summation:
	// counts above it may differ by one. Other whole numbers must be equal.
	longCount = 1e6
)
