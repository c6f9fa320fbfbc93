import { registerHooks } from 'node:module'
import type { DescribedOperation } from '../src/http/operation-words.ts'

const RUNTIME = new URL('runtime.ts', import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'cloudflare:workers'
      ? { url: RUNTIME, shortCircuit: true }
      : next(specifier, context),
})

type Described = Readonly<Record<'OPERATIONS' | 'OWN_OPERATIONS', readonly DescribedOperation[]>>

/** Imports a list of operations without its types, which are those of the runtime. */
const load = async (path: string): Promise<Described> => import(path)

const { OPERATIONS: ofTeam } = await load('../src/admin/operations.ts')
const { OWN_OPERATIONS } = await load('../src/affiliate/operations.ts')

/** The operations of all callers. */
export const OPERATIONS = [...ofTeam, ...OWN_OPERATIONS]
