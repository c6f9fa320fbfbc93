import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { asText, type Chapter } from './chapter.ts'
import { concurrency } from './concurrency.ts'
import { ingest } from './ingest.ts'
import { limiter } from './limiter.ts'
import { lists } from './lists.ts'
import { machine } from './machine.ts'
import { memory } from './memory.ts'
import { publish } from './publish.ts'

import { FULL, QUICK } from './scale.ts'
import { sizes } from './sizes.ts'
import { totals } from './totals.ts'
import { openWorld, type World } from './world.ts'

const SECTIONS = { ingest, sizes, concurrency, lists, totals, memory, limiter }
type Section = keyof typeof SECTIONS

const USAGE = `How fast the service is, beside what the platform could do at most and what others would build.

npm run bench                        all of it, which takes some minutes; writes bench/results
npm run bench -- --only ingest,lists these sections, of ${Object.keys(SECTIONS).join(', ')}
npm run bench -- --quick             just enough to see that it works; its figures mean nothing
npm run bench -- --rounds 5 --bulks 8  more or less of it`

const { values } = parse()
const chosen = (values.only?.split(',') ?? Object.keys(SECTIONS)) as Section[]
for (const name of chosen)
  if (!Object.hasOwn(SECTIONS, name)) refuse(`There is no section ${name}.`)
const standard = values.quick ? QUICK : FULL
const scale = {
  ...standard,
  rounds: count('rounds', 50) ?? standard.rounds,
  bulks: count('bulks', 60) ?? standard.bulks,
}

const folder = mkdtempSync(join(tmpdir(), 'tributary-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

let world: World | undefined
try {
  console.log(`${machine()}\n`)
  world = await openWorld(folder, scale)
  const chapters: Chapter[] = []
  for (const name of chosen) {
    const chapter = await SECTIONS[name](world)
    chapters.push(chapter)
    console.log(`${asText(chapter)}\n`)
  }
  // What is published is always made the same way.
  if (Object.keys(values).length === 0) publish(chapters)
} finally {
  await world?.end()
}

function parse() {
  try {
    return parseArgs({
      options: {
        only: { type: 'string' },
        quick: { type: 'boolean' },
        rounds: { type: 'string' },
        bulks: { type: 'string' },
      },
    })
  } catch (error) {
    return refuse((error as Error).message.replaceAll('\n', ' '))
  }
}

/** A token is good for 1000 requests a minute. */
function count(name: 'rounds' | 'bulks', most: number): number | undefined {
  if (values[name] === undefined) return undefined
  const n = Number(values[name] || Number.NaN)
  if (Number.isInteger(n) && n >= 1 && n <= most) return n
  return refuse(`--${name} is a whole number from 1 to ${most}.`)
}

function refuse(why: string): never {
  console.error(`${why}\n\n${USAGE}`)
  process.exit(2)
}
