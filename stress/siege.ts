import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { cpuWaitOf } from '../bench/cpu.ts'
import { forgetPeak, mib, residentOf } from './memory.ts'
import { runProgram, type Setting } from './program.ts'
import { migrate, newSecrets, type Service, serve } from './service.ts'
import { ALL_ATTACKS } from './siege/all-attacks.ts'
import { type Attack, newAttacker } from './siege/attacks.ts'
import { newMeter } from './siege/meter.ts'
import { newVictim, type Victim } from './siege/victim.ts'

// Attacks the service in every known way while one account goes on with ordinary requests:
// `npm run siege [-- --seconds 10 --attack N --seed N]`.

/** How many times slower the slowest hundredth of the victim's requests may become. */
const MOST_SLOWER = 3

/**
 * How long they may wait besides, in milliseconds. workerd runs the Worker, its objects and D1 in one
 * thread, through which a request passes about ten times. Each time it waits for at most one piece of
 * the attack's work, of up to about 100 ms. On the platform these parts do not wait for each other.
 */
const MOST_AWAITED_MS = 1000

/**
 * How long workerd takes to open a new object, in milliseconds: it creates a database file for it, in
 * the thread of the Worker. On the platform, objects run in threads of their own.
 */
const OBJECT_MS = 5

/**
 * How many times the bytes of the records that it stores an attack may add to the database, and how
 * many bytes besides: the log of refused requests that an account may fill in a day.
 */
const MOST_GROWTH = 2
const MOST_LOGGED = 16 * 1024 * 1024

/** The share of an attack's time above which a message names the wait for a processor. */
const BUSY_SHARE = 0.2

/** How long `GET /healthz` may take right after an attack, in milliseconds. */
const HEALTH_MS = 10_000

/** How long the last requests of an attack may take, in milliseconds. */
const LANES_END_MS = 20_000

interface Measured {
  p50: number
  p99: number
}

const percentiles = (times: readonly number[]): Measured => {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
  return { p50: at(0.5), p99: at(0.99) }
}

/** Attacks one service after the other, and the same victim each time. */
export async function besiege(
  setting: Setting,
  { seconds, attack: only }: { seconds: number; attack: number },
): Promise<void> {
  const { print } = setting
  print('The victim sends bulks of 100 records and reads pages, one request after the other.')
  print('workerd runs the Worker, its objects and D1 in one process: an attack takes its CPU.')
  print(
    'So the victim may wait for a few requests of the attacker, but not for all of its lanes.\n',
  )
  print(
    `${'attack'.padEnd(40)} ${['alone p50', 'p99', 'attacked p50', 'p99', '÷ alone', 'requests', 'CPU each', 'CPU wait', 'memory', 'database'].map((head) => head.padStart(12)).join('')}`,
  )
  for (const [i, attack] of ALL_ATTACKS.entries()) {
    if (only >= 0 && i !== only) continue
    await measure(setting, attack, i, seconds * 1000)
  }
}

async function measure(
  setting: Setting,
  attack: Attack,
  number: number,
  ms: number,
): Promise<void> {
  const { script, folder, print, check } = setting
  const service = await serve(script, join(folder, `besieged-${number}`), await newSecrets())
  try {
    await migrate(service)
    const victim = await newVictim(service)
    const alone = percentiles(await victim.run(ms))
    const { attacked, requests, cpu, cpuWait, failures, isHealthy, peak, growth, records } =
      await run(service, attack, victim, ms)
    const slower = attacked.p99 / alone.p99
    print(
      `${attack.name.padEnd(40)} ${[
        ...[alone.p50, alone.p99, attacked.p50, attacked.p99].map((one) => `${one.toFixed(0)} ms`),
        slower.toFixed(1),
        String(requests),
        `${cpu.toFixed(0)} ms`,
        `${(100 * cpuWait).toFixed(0)} %`,
        mib(peak),
        mib(growth),
      ]
        .map((cell) => cell.padStart(12))
        .join('')}${slower > MOST_SLOWER ? '  one thread' : ''}`,
    )
    check(
      growth <= MOST_GROWTH * records + MOST_LOGGED,
      `${attack.name}: the database grew by ${mib(growth)}, with records of ${mib(records)}`,
    )
    check(
      isHealthy,
      `${attack.name}: GET /healthz did not succeed within ${HEALTH_MS} ms after the attack${busy(cpuWait)}`,
    )
    check(failures === 0, `${attack.name}: ${failures} of the victim's requests failed`)
    const most = MOST_SLOWER * alone.p99 + MOST_AWAITED_MS + (attack.newObjects ?? 0) * OBJECT_MS
    check(
      attacked.p99 <= most,
      `${attack.name}: p99 of the victim is ${attacked.p99.toFixed(0)} ms; allowed are ${most.toFixed(0)} ms${busy(cpuWait)}`,
    )
  } finally {
    await service.end()
  }
}

/** Names other programs as a cause: senders who do not wait for answers then fill workerd's queue. */
const busy = (cpuWait: number) =>
  cpuWait < BUSY_SHARE
    ? ''
    : `; other programs used the processors: workerd waited for one ${(100 * cpuWait).toFixed(0)} % of the time`

async function run(service: Service, attack: Attack, victim: Victim, ms: number) {
  let isOver = false
  let requests = 0
  const attacker = await newAttacker(service, 'attacker', () => isOver)
  await attack.prepare?.(attacker)
  const meter = await newMeter(service)
  const before = await meter.databaseBytes()
  const recordsBefore = await meter.recordBytes()
  const [pid] = service.pids
  forgetPeak(pid!)
  const cpuBefore = service.cpu() ?? 0
  const waitedBefore = cpuWaitOf(pid!)
  const start = performance.now()
  const lanes = Array.from({ length: attack.lanes }, async (_, lane) => {
    for (let turn = 0; !isOver; turn++) {
      requests += 1
      // A refused connection or a response that ends early does not end the attack.
      await attack.act(attacker, lane, turn).catch(() => {})
    }
  })
  let failures = 0
  const times = await victim.run(ms).catch((error) => {
    failures += 1
    console.error(String(error).slice(0, 300))
    return [ms]
  })
  isOver = true
  const cpuWait = (cpuWaitOf(pid!) - waitedBefore) / (performance.now() - start)
  const isHealthy = await answersHealth(service)
  const cpu = ((service.cpu() ?? 0) - cpuBefore) / Math.max(1, requests)
  // The program need not wait for this timer when the lanes have ended.
  await Promise.race([Promise.all(lanes), wait(LANES_END_MS, undefined, { ref: false })])
  const growth = (await meter.databaseBytes()) - before
  return {
    attacked: percentiles(times),
    requests,
    cpu,
    cpuWait,
    failures,
    isHealthy,
    peak: residentOf(pid!).most,
    growth,
    records: (await meter.recordBytes()) - recordsBefore,
  }
}

/** Returns whether the service answers `GET /healthz` in time, on a connection of its own. */
async function answersHealth({ url }: Service): Promise<boolean> {
  const signal = AbortSignal.timeout(HEALTH_MS)
  const headers = { Connection: 'close' }
  return fetch(new URL('/healthz', url), { signal, headers }).then(
    async (response) => {
      await response.text()
      return response.ok
    },
    () => false,
  )
}

await runProgram(
  import.meta.url,
  'Attacks the service in every known way while one account sends ordinary requests.',
  {
    seconds: { help: 'how long each attack lasts', value: 10, least: 1, most: 600 },
    // It is not called `--only`: npm has an option of that name, and consumes it before a `--`.
    attack: {
      help: 'only this attack, by its number; -1 runs all',
      value: -1,
      least: -1,
      most: 99,
    },
  },
  besiege,
)
