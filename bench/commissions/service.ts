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

/** Starts the metered service with its Workflow, on the state of a folder. */
export async function startMetered(
  script: string,
  state: string,
  inspected: boolean,
): Promise<Running> {
  const object = (exportName: string) =>
    ({ type: 'durable-object', exportName, worker: 'bench' }) as const
  const sqlite = { type: 'durable-object', storage: 'sqlite' } as const
  return start(script, state, {
    inspected,
    env: {
      BASE_URL: { type: 'text', value: 'http://127.0.0.1' },
      SIGNING_KEYS: { type: 'text', value: await newKeySet() },
      ADMIN_KEY: { type: 'text', value: ADMIN_KEY },
      TOKEN_GATE: object('TokenGate'),
      CLIENT_GATE: object('ClientGate'),
      ERASURE_JOURNAL: object('ErasureJournal'),
      STATEMENT_RUNS: {
        type: 'workflow',
        name: 'statement-runs',
        worker: 'bench',
        exportName: 'StatementRun',
      },
    },
    exports: { TokenGate: sqlite, ClientGate: sqlite, ErasureJournal: sqlite },
  })
}
