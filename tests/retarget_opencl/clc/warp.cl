// What the attention kernel's helper functions do in a warp of NVIDIA's, by shuffles of a subgroup of 32. With g = lane / 4
// and t = lane % 4, pair i of a left factor or a sum is in row g + 8 (i % 2), columns 2 t + 8 (i / 2) and the next; of a
// right factor in rows 2 t + 8 (i % 2) and the next, column g + 8 (i / 2).
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle_relative : enable
#define G ((uint)get_local_id(0) % 32u / 4u)
#define T ((uint)get_local_id(0) % 4u)

static inline uint retarget_shuffle_xor(const uint value, const uint lane) {
    return sub_group_shuffle_xor(value, lane);
}

static inline float element(const uint pair, const uint second) {
    const ushort bits = (ushort)(second ? pair >> 16 : pair);
    return vload_half(0, (const half*)&bits);
}

static inline uint4 matrix_load_packed_left_row_global(const __global uchar* start, const uint stride) {
    uint found[4];
    for (uint i = 0; i < 4; ++i)
        found[i] = *(const __global uint*)(start + (G + 8 * (i % 2)) * stride + (2 * T + 8 * (i / 2)) * 2);
    return vload4(0, found);
}

static inline uint4 matrix_load_packed_right_column_local(const __local uchar* start, const uint stride) {
    uint found[4];
    for (uint i = 0; i < 4; ++i)
        found[i] = *(const __local uint*)(start + (G + 8 * (i / 2)) * stride + (2 * T + 8 * (i % 2)) * 2);
    return vload4(0, found);
}

static inline uint4 matrix_load_packed_right_row_local(const __local uchar* start, const uint stride) {
    uint found[4];
    for (uint i = 0; i < 4; ++i) {
        const __local uchar* pair = start + (2 * T + 8 * (i % 2)) * stride + (G + 8 * (i / 2)) * 2;
        found[i] = *(const __local ushort*)pair | (uint)*(const __local ushort*)(pair + stride) << 16;
    }
    return vload4(0, found);
}

static inline void matrix_store_packed_row_global(__global uchar* start, const uint stride, const uint4 matrix) {
    const uint pairs[4] = {matrix.s0, matrix.s1, matrix.s2, matrix.s3};
    for (uint i = 0; i < 4; ++i)
        *(__global uint*)(start + (G + 8 * (i % 2)) * stride + (2 * T + 8 * (i / 2)) * 2) = pairs[i];
}

// A function of its own, or Intel's compiler takes three times as long.
__attribute__((noinline)) static float8 matrix_multiply_add_single(const uint4 left, const uint4 right, const float8 sum) {
    const uint lefts[4] = {left.s0, left.s1, left.s2, left.s3}, rights[4] = {right.s0, right.s1, right.s2, right.s3};
    float sums[8];
    vstore8(sum, 0, sums);
    for (uint k = 0; k < 16; ++k)
        for (uint row = 0; row < 2; ++row) {
            const float a = element(sub_group_shuffle(lefts[row + 2 * (k / 8)], 4 * G + k % 8 / 2), k % 2);
            for (uint column = 0; column < 4; ++column) {
                const uint bits = sub_group_shuffle(rights[k / 8 + 2 * (column / 2)], 4 * (2 * T + column % 2) + k % 8 / 2);
                sums[column / 2 * 4 + row * 2 + column % 2] += a * element(bits, k % 2);
            }
        }
    return vload8(0, sums);
}

