import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newKeySet } from '../../scripts/keys.ts'
import { buildOurs, buildPeer } from '../build.ts'
import { ADMIN_KEY } from '../cost/parties.ts'
import { type Running, start } from '../worker.ts'

/** Builds the service with a meter around it and its Workflow; `wrapper` is the file of the meter. */
export async function buildMetered(
  folder: string,
  wrapper = 'bench/commissions/metered.ts',
): Promise<string> {
  const service = join(folder, 'service.js')
  writeFileSync(service, await buildOurs())
  return buildPeer(wrapper, service)
}

const object = (exportName: string) =>
  ({ type: 'durable-object', exportName, worker: 'bench' }) as const
const sqlite = { type: 'durable-object', storage: 'sqlite' } as const

/** Returns the bindings of the service with its Workflow, and further variables. */
export async function workflowBindings(variables: Readonly<Record<string, string>>) {
  const texts = {
    BASE_URL: 'http://127.0.0.1',
    SIGNING_KEYS: await newKeySet(),
    ADMIN_KEY,
    ...variables,
  }
  return {
    triggers: [
      {
        ...{ type: 'queue' as const, name: 'accounts' },
        ...{ maxBatchSize: 1, maxBatchTimeout: 0, maxRetries: 3 },
      },
    ],
    env: {
      ...Object.fromEntries(
        Object.entries(texts).map(([name, value]) => [name, { type: 'text' as const, value }]),
      ),
      TOKEN_GATE: object('TokenGate'),
      CLIENT_GATE: object('ClientGate'),
      ERASURE_JOURNAL: object('ErasureJournal'),
      BACKGROUND_JOBS: object('BackgroundJob'),
      ACCOUNT_JOBS: { type: 'queue' as const, name: 'accounts' },
      ARCHIVE: { type: 'r2' as const, name: 'archive' },
      STATEMENT_RUNS: {
        type: 'workflow' as const,
        name: 'statement-runs',
        worker: 'bench',
        exportName: 'StatementRun',
      },
      ACCOUNT_MOVES: {
        type: 'workflow' as const,
        name: 'account-moves',
        worker: 'bench',
        exportName: 'AccountMove',
      },
    },
    exports: {
      TokenGate: sqlite,
      ClientGate: sqlite,
      ErasureJournal: sqlite,
      BackgroundJob: sqlite,
    },
  }
}

/** Starts the metered service with its Workflow, on the state of a folder. */
export const startMetered = async (
  script: string,
  state: string,
  inspected: boolean,
): Promise<Running> => start(script, state, { inspected, ...(await workflowBindings({})) })
