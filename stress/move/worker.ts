import type { ExportedHandler } from '@cloudflare/workers-types'
import { withMeter } from '../../bench/cost/meter.ts'
import { compareStep, finalCheck } from '../../src/db/move/compare.ts'
import { copyStep } from '../../src/db/move/copy.ts'
import { dropStep } from '../../src/db/move/drop.ts'
import { closeWrites, endCopying, followStep, startFollowing } from '../../src/db/move/follow.ts'
import type { CopyPlace } from '../../src/db/move/place.ts'

// The steps of a move without its Workflow: a request makes one of them. The rows that they write are counted.

/** A step, and the place at which it begins. */
export interface StepRequest {
  readonly step: keyof typeof STEPS
  readonly account: string
  readonly place: CopyPlace | null
}

const STEPS = {
  start: ({ DB, DB_2 }: Env, account: string) => startFollowing(DB_2, DB, account),
  copy: ({ DB, DB_2 }: Env, account: string, place: CopyPlace | null) =>
    copyStep(DB_2, DB, account, place),
  compare: ({ DB, DB_2 }: Env, account: string, place: CopyPlace | null) =>
    compareStep(DB_2, DB, account, place),
  follow: ({ DB, DB_2 }: Env, account: string) => followStep(DB_2, DB, account),
  close: ({ DB_2 }: Env, account: string) => closeWrites(DB_2, account, 1),
  check: ({ DB, DB_2 }: Env, account: string) => finalCheck(DB_2, DB, account),
  end: ({ DB }: Env, account: string) => endCopying(DB, account),
  drop: ({ DB_2 }: Env, account: string) => dropStep(DB_2, account),
}

interface Env {
  readonly DB: D1Database
  readonly DB_2: D1Database
}

export default withMeter({
  async fetch(request, env) {
    const { step, account, place } = await request.json<StepRequest>()
    const result = await STEPS[step](env as Env, account, place)
    return Response.json({ result: result ?? null }) as never
  },
} satisfies ExportedHandler)
