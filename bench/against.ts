import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expectOk } from '../chaos/ask.ts'
import { migrate, newSecrets, type Service, serve, setClock } from '../chaos/service.ts'
import { bundle, cpuOf, migrationsIn } from '../chaos/workerd.ts'
import { CUSTOMERS, newSender, type Scale } from './compete.ts'
import { signIn } from './pages.ts'
import { type Chapter, format, median } from './print.ts'
import { RECORDS } from './records.ts'
import { fill, judgeAgain, MORNING, morningOf, putRules } from './run.ts'

/** What a change may cost: the share of CPU that it may add. */
const TOLERANCE = 0.05

/** How often each act is measured for a round of the scale: the kernel counts CPU in ticks of 10 ms. */
const REPEATS = { bulk: 8, single: 60, morning: 1, overview: 12 } as const
type Act = keyof typeof REPEATS

const ACCOUNT = 'month'

/** A service, and the key of its integrations team. */
interface Side {
  readonly service: Service
  readonly key: string
}

/** Starts the service of a folder, with the month of an account. */
async function open(folder: string, state: string, { factsOfMonth }: Scale): Promise<Side> {
  const secrets = await newSecrets()
  const script = await bundle(join(folder, 'chaos/worker.ts'))
  const service = await serve({ script, state, secrets })
  await migrate(service, migrationsIn(join(folder, 'migrations')))
  await fill(service, ACCOUNT, Math.max(20, Math.floor(factsOfMonth / 10)))
  await putRules(service, ACCOUNT)
  return { service, key: secrets.ADMIN_KEY }
}

/** An act with its number. */
type Perform = (n: number) => Promise<unknown>

/** Returns how the records of a request are sent: so many from one number on. */
const sending =
  (size: number, first: number) =>
  async ({ service }: Side): Promise<Perform> => {
    const ask = await newSender(service, `records-${size}`)
    const headers = { Prefer: 'return=minimal' }
    return (n) => {
      const body = Array.from({ length: size }, (_, i) =>
        RECORDS.transactions(first + n * size + i, { customers: CUSTOMERS }),
      )
      return expectOk(ask('POST', 'transactions', { body, headers }))
    }
  }

/** The acts, each with what begins it. The clock goes back last: tokens would end. */
const ACTS: Readonly<Record<Act, (side: Side) => Promise<Perform>>> = {
  bulk: sending(1000, 0),
  single: sending(1, 50_000_000),
  async morning({ service }) {
    await setClock(service, MORNING)
    await morningOf(service, ACCOUNT)
    return async () => {
      await judgeAgain(service, { isDisabled: false })
      await morningOf(service, ACCOUNT)
    }
  },
  async overview({ service, key }) {
    const read = await signIn(service, key)
    return () => read(`console/accounts/${ACCOUNT}`)
  },
}

/** Checks a commit out into a folder, with its modules and generated files. */
function checkOut(commit: string, folder: string): void {
  execFileSync('git', ['worktree', 'add', '--detach', folder, commit], { stdio: 'ignore' })
  execFileSync('npm', ['ci'], { cwd: folder, stdio: 'ignore' })
  for (const script of ['tables', 'generate', 'site']) {
    execFileSync(process.execPath, [`scripts/${script}.ts`], { cwd: folder, stdio: 'ignore' })
  }
}

/** Compares the CPU of acts with that of a commit, in pairs. Sets the exit code 1 above the tolerance. */
export async function against(commit: string, folder: string, scale: Scale): Promise<Chapter> {
  const other = join(folder, 'commit')
  const sides: Side[] = []
  try {
    checkOut(commit, other)
    sides.push(await open('.', join(folder, 'ours'), scale))
    sides.push(await open(other, join(folder, 'theirs'), scale))
    const rows = await compare(sides as [Side, Side], scale.rounds + 1)
    const worse = rows.filter(({ ratio }) => ratio > 1 + TOLERANCE)
    if (worse.length > 0) process.exitCode = 1
    return {
      title: `CPU beside ${commit}`,
      notes: `The two take turns; the first of ${scale.rounds + 1} rounds is not counted. ${worse.length === 0 ? 'Nothing costs over 5 % more.' : `Over 5 % more: ${worse.map(({ act }) => act).join(', ')}.`}`,
      tables: [
        [
          ['', 'CPU ÷ that of the commit', 'CPU-ms'],
          ...rows.map(({ act, ratio, ms }) => [act, format(ratio, 2), format(ms, 1)]),
        ],
      ],
      figures: [],
    }
  } finally {
    for (const { service } of sides) await service.end()
    execFileSync('git', ['worktree', 'remove', '--force', other], { stdio: 'ignore' })
  }
}

async function compare(sides: readonly [Side, Side], rounds: number) {
  const rows: { act: Act; ratio: number; ms: number }[] = []
  for (const act of Object.keys(REPEATS) as Act[]) {
    const used: [number, number][] = []
    const performs = [await ACTS[act](sides[0]), await ACTS[act](sides[1])] as const
    for (let round = 0; round < rounds; round++) {
      const cpu: [number, number] = [0, 0]
      for (let n = 0; n < REPEATS[act]; n++) {
        for (const i of round % 2 ? ([1, 0] as const) : ([0, 1] as const)) {
          const { pids } = sides[i].service
          const before = cpuOf(pids)
          await performs[i](round * REPEATS[act] + n)
          cpu[i] += cpuOf(pids) - before
        }
      }
      if (round > 0) used.push(cpu)
    }
    rows.push({
      act,
      ratio: median(used.map(([ours, theirs]) => ours / theirs)),
      ms: median(used.map(([ours]) => ours / REPEATS[act])),
    })
  }
  return rows
}
