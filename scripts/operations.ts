import { registerHooks } from 'node:module'
import type { GenericSchema } from 'valibot'
import type { DescribedOperation } from '../src/platform/http/operation-words.ts'

const RUNTIME = new URL('runtime.ts', import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'cloudflare:workers'
      ? { url: RUNTIME, shortCircuit: true }
      : next(specifier, context),
})

type Described = Readonly<
  Record<'OPERATIONS' | 'OWN_OPERATIONS' | 'TOKEN_OPERATIONS', readonly DescribedOperation[]> & {
    recordOperations: (vertical: object) => readonly DescribedOperation[]
    bodyOf: (record: GenericSchema, acceptsDataWrapper: boolean) => GenericSchema
  }
>

// They are imported without their types, which are those of the runtime, by literal paths, which a bundle follows.
const { OPERATIONS: ofTeam } = (await import('../src/api/operations.ts' as string)) as Described
const { OWN_OPERATIONS } = (await import('../src/api/own-operations.ts' as string)) as Described

const { TOKEN_OPERATIONS } = (await import('../src/platform/http/oauth.ts' as string)) as Described
const { recordOperations, bodyOf } = (await import(
  '../src/ingest/record-operations.ts' as string
)) as Described

export { bodyOf, recordOperations }

/** The operations of all callers, but for those on the records of a vertical. */
export const OPERATIONS = [...TOKEN_OPERATIONS, ...ofTeam, ...OWN_OPERATIONS]
