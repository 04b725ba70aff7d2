//! What the name of a kernel tells of its operation.

/// The operation of a kernel, told from its name alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Matrix products, also grouped and of one row.
    MatrixProduct,
    /// Attention.
    Attention,
    /// Convolutions.
    Convolution,
    /// Softmax, layer norm, RMS norm, batch norm.
    Norm,
    /// Sums and the like.
    Reduction,
    /// One operation per element, with copies, casts, transposes and fills.
    ElementWise,
    /// Gathers, scatters, embeddings, sorting.
    Index,
    /// Collectives between GPUs.
    Communication,
    /// Nothing known.
    Other,
}

/// Parts of names in lower case, first match first: a fused kernel is what costs most in it.
const PARTS: [(Kind, &[&str]); 9] = [
    // Keys and values to their place in a paged cache: what `flash` names there is the layout.
    (Kind::ElementWise, &["reshape_and_cache", "concat_and_cache"]),
    (Kind::Communication, &["nccl", "rccl", "allreduce", "all_reduce", "allgather", "all_gather", "reducescatter"]),
    (Kind::Attention, &["flash", "fmha", "attention", "attn", "mha_", "paged_kv", "xqa"]),
    (
        Kind::Convolution,
        &[
            "convolution",
            "conv1d",
            "conv2d",
            "conv3d",
            "convolve",
            "_conv_",
            "depthwise",
            "winograd",
            "implicit_gemm",
            "wgrad",
            "dgrad",
            "fprop",
            "cudnn::cnn",
        ],
    ),
    (
        Kind::MatrixProduct,
        &[
            "gemm",
            "gemv",
            "matmul",
            "cutlass",
            "cijk_",
            "dot_kernel",
            "splitk",
            "nvjet",
            "mma_",
            "_tn_",
            "_nt_",
            "_nn_",
        ],
    ),
    (Kind::Norm, &["norm", "softmax", "logsumexp"]),
    (Kind::Index, &["index", "gather", "scatter", "embedding", "sort", "topk", "unique", "radix", "scan_"]),
    (Kind::Reduction, &["reduce", "reduction", "sum_", "argmax"]),
    (
        Kind::ElementWise,
        &[
            "elementwise",
            "element_wise",
            "pointwise",
            "copy",
            "cast",
            "fill",
            "transpose",
            "permute",
            "add",
            "mul",
            "gelu",
            "relu",
            "silu",
            "swish",
            "sigmoid",
            "dropout",
            "triton_poi",
            "saxpy",
            "axpy",
            "rotary",
            "rope",
            "cat",
            "distribution",
            "adam",
            "multi_tensor",
        ],
    ),
];

impl Kind {
    /// The kind that a name suggests.
    pub fn of(name: &str) -> Self {
        // The library FBGEMM has embeddings, permutations and casts besides products.
        let lower = name.to_ascii_lowercase().replace("fbgemm", "");
        let has = |parts: &&(Self, &[&str])| parts.1.iter().any(|part| lower.contains(part));
        PARTS.iter().find(has).map_or(Self::Other, |(kind, _)| *kind)
    }

    /// The word in every output.
    pub fn word(self) -> &'static str {
        match self {
            Self::MatrixProduct => "matrix product",
            Self::Attention => "attention",
            Self::Convolution => "convolution",
            Self::Norm => "softmax and norms",
            Self::Reduction => "reduction",
            Self::ElementWise => "element-wise",
            Self::Index => "index and sort",
            Self::Communication => "communication",
            Self::Other => "other",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_common_libraries() {
        for (name, kind) in [
            ("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", Kind::MatrixProduct),
            ("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_32x3_nn_align4>", Kind::MatrixProduct),
            ("Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1", Kind::MatrixProduct),
            ("nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_TNT", Kind::MatrixProduct),
            ("void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128>>", Kind::Attention),
            ("sm80_xmma_fprop_implicit_gemm_f16f16_f16f16_f16_nhwckrsc_nhwc", Kind::Convolution),
            (
                "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
                Kind::ElementWise,
            ),
            ("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>", Kind::Reduction),
            ("void (anonymous namespace)::softmax_warp_forward<float, float, float, 8, true, false>", Kind::Norm),
            ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", Kind::Communication),
            ("void at::native::indexSelectLargeIndex<float, long>", Kind::Index),
            ("void cutlass::device_kernel<GemmUniversal<NumericArrayConverter>>", Kind::MatrixProduct),
            ("heat_kernel_2d", Kind::Other),
            ("void fbgemm_gpu::permute_2D_data_kernel<1, long, float>", Kind::ElementWise),
            ("void split_embedding_codegen_forward_fbgemm_gpu_weighted<float>", Kind::Index),
            ("void fbgemm_gpu::_float_to_bfloat16_cuda_kernel", Kind::Other),
            ("void fbgemm_gpu::batched_dense_gemm<float>", Kind::MatrixProduct),
            ("void cutlass::Kernel2<fbgemm::f8f8bf16_rowwise>", Kind::MatrixProduct),
            ("void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16, 0>", Kind::ElementWise),
            ("void vllm::concat_and_cache_mla_kernel<__nv_bfloat16>", Kind::ElementWise),
        ] {
            assert_eq!(Kind::of(name), kind, "{name}");
        }
    }
}
