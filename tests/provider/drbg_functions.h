/* SPDX-License-Identifier: Apache-2.0 */
/* drbg_functions.h - the functions of an algorithm as libcrypto finds them: in its table, by their numbers. */

#ifndef TEST_DRBG_FUNCTIONS_H
#define TEST_DRBG_FUNCTIONS_H

#include "provider/rand/drbg.h"
#include "provider/rand/instruction_rand.h"

static inline void (*rand_function(const OSSL_DISPATCH *table, int id))(void)
{
    while (table->function_id != 0 && table->function_id != id) {
        table++;
    }
    return table->function;
}

static inline void (*drbg_function(int id))(void)
{
    return rand_function(drng_drbg_functions, id);
}

#define drbg_newctx         ((OSSL_FUNC_rand_newctx_fn *)drbg_function(OSSL_FUNC_RAND_NEWCTX))
#define drbg_freectx        ((OSSL_FUNC_rand_freectx_fn *)drbg_function(OSSL_FUNC_RAND_FREECTX))
#define drbg_instantiate    ((OSSL_FUNC_rand_instantiate_fn *)drbg_function(OSSL_FUNC_RAND_INSTANTIATE))
#define drbg_generate       ((OSSL_FUNC_rand_generate_fn *)drbg_function(OSSL_FUNC_RAND_GENERATE))
#define drbg_enable_locking ((OSSL_FUNC_rand_enable_locking_fn *)drbg_function(OSSL_FUNC_RAND_ENABLE_LOCKING))
#define drbg_get_seed       ((OSSL_FUNC_rand_get_seed_fn *)drbg_function(OSSL_FUNC_RAND_GET_SEED))
#define drbg_clear_seed     ((OSSL_FUNC_rand_clear_seed_fn *)drbg_function(OSSL_FUNC_RAND_CLEAR_SEED))

/* The same of DRNG-SEED. */
#define seedsrc_function(id) rand_function(drng_seed_src_functions, (id))
#define seedsrc_newctx       ((OSSL_FUNC_rand_newctx_fn *)seedsrc_function(OSSL_FUNC_RAND_NEWCTX))
#define seedsrc_freectx      ((OSSL_FUNC_rand_freectx_fn *)seedsrc_function(OSSL_FUNC_RAND_FREECTX))
#define seedsrc_instantiate  ((OSSL_FUNC_rand_instantiate_fn *)seedsrc_function(OSSL_FUNC_RAND_INSTANTIATE))
#define seedsrc_generate     ((OSSL_FUNC_rand_generate_fn *)seedsrc_function(OSSL_FUNC_RAND_GENERATE))
#define seedsrc_get_seed     ((OSSL_FUNC_rand_get_seed_fn *)seedsrc_function(OSSL_FUNC_RAND_GET_SEED))
#define seedsrc_clear_seed   ((OSSL_FUNC_rand_clear_seed_fn *)seedsrc_function(OSSL_FUNC_RAND_CLEAR_SEED))

#endif
