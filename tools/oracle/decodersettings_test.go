package oracle

import (
	"fmt"
	"strconv"
	"strings"

	"mdmgen/samplers/catalog"
	"mdmgen/samplers/rank"
	"mdmgen/samplers/schedule"
)

// decoderSettings holds upstream's settings, under upstream's names.
type decoderSettings struct {
	// Settings of several decoders.
	Steps       int
	Temperature *float64
	Threshold   float64
	Remasking   string
	CfgScale    float64 `json:"cfg_scale"`
	BlockLength int     `json:"block_length"`
	BlockSize   int     `json:"block_size"`
	Prompt      *int
	// LLaDA.
	LogitsEOSInf        bool `json:"logits_eos_inf"`
	ConfidenceEOSEOTInf bool `json:"confidence_eos_eot_inf"`
	EOS                 int  `json:"eos_id"`
	EOT                 int  `json:"eot_id"`
	// Fast-dLLM and LocalLeap.
	Factor           float64
	RelaxedThreshold float64 `json:"relaxed_threshold"`
	Radius           int
	// KLASS.
	KLThreshold   float64 `json:"kl_threshold"`
	HistoryLength int     `json:"history_length"`
	// WINO.
	ThresholdBack float64 `json:"threshold_back"`
	// Dream.
	Alg     string
	AlgTemp float64 `json:"alg_temp"`
	Eps     float64
	TopP    float64 `json:"top_p"`
	TopK    int     `json:"top_k"`
	// dLLM.
	Method, Scheduler   string
	StochasticTransfer  bool    `json:"stochastic_transfer"`
	KeepTokens          []int   `json:"cfg_keep_tokens"`
	SuppressTokens      []int   `json:"suppress_tokens"`
	BeginSuppressTokens []int   `json:"begin_suppress_tokens"`
	StepsPerBlock       int     `json:"steps_per_block"`
	EditingThreshold    float64 `json:"editing_threshold"`
	MaxPostSteps        int     `json:"max_post_steps"`
	NumToTransfer       int     `json:"num_to_transfer"`
	// ReMDM.
	Sampler  string
	Eta      float64
	NucleusP float64 `json:"nucleus_p"`
	TOn      float64 `json:"t_on"`
	TOff     float64 `json:"t_off"`
	AlphaOn  float64 `json:"alpha_on"`
}

// options returns the options of the equivalent sampler, for a canvas of the given length after a
// prompt. longest is the length of the longest canvas in the batch.
func (s decoderSettings) options(decoder string, length, longest, prompt int) (catalog.Options, error) {
	o := catalog.Options{Sampler: "confidence", Steps: s.Steps}
	for _, kind := range []string{"prefix", "dual"} {
		if of, ok := strings.CutSuffix(decoder, "-"+kind); ok {
			decoder, o.Cache = of, kind
		}
	}
	o.Temperature, o.TopP, o.TopK = s.Temperature, s.TopP, s.TopK
	o.Guidance, o.Threshold = s.CfgScale, s.Threshold
	if s.Prompt != nil {
		prompt = *s.Prompt
	}
	block := max(s.BlockLength, s.BlockSize)
	switch decoder {
	case "llada":
		if s.LogitsEOSInf {
			o.SuppressTokens = strconv.Itoa(s.EOS)
		}
		if s.ConfidenceEOSEOTInf {
			o.BeginSuppressTokens = ids([]int{s.EOS, s.EOT})
		}
	case "fast-llada", "dllm-fast-llada":
		switch {
		case s.Factor > 0:
			o.Sampler, o.Factor, o.Steps = "factor", s.Factor, 0
			if decoder == "dllm-fast-llada" {
				o.Rule = schedule.RoundDLLM
			}
		case s.Threshold > 0:
			o.Sampler, o.Steps = "threshold", 0
		}
		if decoder == "dllm-fast-llada" {
			if o.Reach = "inside"; o.Sampler == "confidence" {
				o.Rule = schedule.RoundDLLM
			}
		}
	case "localleap":
		o.Sampler, o.Steps = "localleap", 0
		o.RelaxedThreshold, o.Radius = s.RelaxedThreshold, s.Radius
	case "klass":
		o.Sampler, o.KLThreshold, o.History = "klass", s.KLThreshold, s.HistoryLength
	case "wino":
		o.Sampler, o.ThresholdBack = "wino", s.ThresholdBack
	case "dream", "dllm-dream":
		block = 0
		o.Score = map[string]rank.RankBy{"maskgit_plus": rank.ByMaskGIT, "topk_margin": rank.ByMargin, "entropy": rank.ByEntropy}[s.Alg]
		o.AlgTemp, o.Rule, o.Eps = s.AlgTemp, schedule.RoundDream, s.Eps
		if decoder == "dllm-dream" {
			o.Rule = schedule.RoundDLLM
			if o.Guidance > 0 {
				o.Unconditional, o.PromptLength = "prompt", &prompt
			}
		}
	case "fast-dream", "dllm-fast-dream":
		if o.Cache != "" {
			s.cachedDream(decoder, &o)
			break
		}
		block = 0
		o.Sampler, o.Score, o.Rule = "threshold", rank.ByMaskGIT, schedule.RoundDream
		if decoder == "dllm-fast-dream" {
			o.Rule = schedule.RoundDLLM
		}
	case "dllm-mdlm":
		o.Rule, o.Schedule = schedule.RoundDLLM, s.Scheduler
		if s.StochasticTransfer {
			o.Transfer = "binomial"
		}
		if o.Guidance > 0 {
			o.KeepTokens = ids(s.KeepTokens)
		}
		o.SuppressTokens, o.BeginSuppressTokens = ids(s.SuppressTokens), ids(s.BeginSuppressTokens)
		if block > 0 && s.Method == "infill" {
			// The blocks of a batch are those of its longest row.
			all := (longest + block - 1) / block
			o.Steps = (o.Steps + all - 1) / all * ((length + block - 1) / block)
		}
	case "dllm-llada2":
		block = 0
		o.Sampler, o.Steps = "llada2", s.StepsPerBlock
	case "dllm-llada21":
		block = 0
		o.Sampler, o.EditingThreshold, o.PostSteps, o.AtLeast = "llada2", s.EditingThreshold, s.MaxPostSteps, s.NumToTransfer
	default:
		return o, fmt.Errorf("decoder %.40q is not known", decoder)
	}
	if s.Remasking == "random" {
		o.Score = rank.ByRandom
	}
	if o.BlockLength = block; block > 0 {
		o.PromptLength = &prompt
	}
	return o, nil
}

// cachedDream sets the options of Fast-dLLM's and dLLM's loops for Dream with a cache.
func (s decoderSettings) cachedDream(decoder string, o *catalog.Options) {
	o.Reach = "inside"
	if s.Alg == "confidence_threshold" {
		o.Sampler, o.Steps, o.Score = "threshold", 0, rank.ByMaskGIT
		return
	}
	o.Rule, o.Eps, o.Score = schedule.RoundDream, s.Eps, rank.ByEntropy
	if decoder == "dllm-fast-dream" {
		o.Score = map[string]rank.RankBy{"maskgit_plus": rank.ByMaskGIT, "topk_margin": rank.ByMargin, "entropy": rank.ByEntropy}[s.Alg]
	}
}

// ids formats a list for an option.
func ids(list []int) string {
	var out []string
	for _, id := range list {
		out = append(out, strconv.Itoa(id))
	}
	return strings.Join(out, ",")
}

// quotasFile compares a file of the numbers of tokens per call of LLaDA, Dream and dLLM.
func quotasFile(m *matcher, f *file) {
	in := inputs[struct {
		Quotas []struct{ Masks, Steps int }
	}](m.t, f)
	rows := list{}
	for _, q := range in.Quotas {
		rows = append(rows, object{
			"masks": given{}, "steps": given{},
			"even":                schedule.Quotas(schedule.RoundLLaDA, q.Masks, q.Steps, 0, false),
			"rounded_linear":      schedule.Quotas(schedule.RoundDLLM, q.Masks, q.Steps, 0, false),
			"rounded_cosine":      schedule.Quotas(schedule.RoundDLLM, q.Masks, q.Steps, 0, true),
			"truncated_eps_0.001": schedule.Quotas(schedule.RoundDream, q.Masks, q.Steps, 0.001, false),
			"truncated_eps_0.1":   schedule.Quotas(schedule.RoundDream, q.Masks, q.Steps, 0.1, false),
		})
	}
	m.match("", f.doc, object{"quotas": rows})
}
