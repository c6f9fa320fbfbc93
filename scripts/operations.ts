import { registerHooks } from 'node:module'
import type { DescribedOperation } from '../src/http/operation-words.ts'

const RUNTIME = new URL('runtime.ts', import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'cloudflare:workers'
      ? { url: RUNTIME, shortCircuit: true }
      : next(specifier, context),
})

/** The operations of the administration API. They are loaded without their types, which are those of the runtime. */
export const { OPERATIONS } = (await import('../src/admin/operations.ts' as string)) as {
  OPERATIONS: readonly DescribedOperation[]
}
