import { statSync } from 'node:fs'
import { misuse } from '../push/halt.ts'
import { formatOf, records } from '../push/read.ts'
import type { Shape } from '../push/verticals.ts'
import type { Request, Said } from './command.ts'
import { Refused } from './failure.ts'
import type { Service } from './service.ts'

/** The API takes at most so many at once. */
const BULK = 1000

/** A longer id is cut where it only names what is wrong. */
const SHOWN = 40

interface Affiliate {
  affiliate_id?: string
  parent?: string
}

const AFFILIATES: Shape = {
  name: 'affiliates',
  fields: ['affiliate_id', 'parent'],
  numeric: new Set(),
  keyOf: () => undefined,
}

/** Sets the affiliates of a file, parents first, and answers as if it had been one request. */
export async function importAffiliates(service: Service, request: Request, said: Said) {
  const file = said.operands['FILE.csv']!
  const sent = parentsFirst(await readAffiliates(file), file)
  const total = { received: 0, changed: 0 }
  for (let first = 0; first < sent.length; first += BULK) {
    const body = sent.slice(first, first + BULK)
    const { received, changed } = (await service({ ...request, body }).catch((error) => {
      throw named(error, body, first)
    })) as typeof total
    total.received += received
    total.changed += changed
  }
  return total
}

async function readAffiliates(file: string): Promise<Affiliate[]> {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) {
    throw misuse(`There is no file ${file}.`)
  }
  const source = { file, position: { bytes: 0, lines: 0 } }
  const found: Affiliate[] = []
  for await (const { text } of records(source, await formatOf(file), AFFILIATES)) {
    found.push(JSON.parse(text))
  }
  if (found.length === 0) throw misuse(`${file} names no affiliate.`)
  return found
}

/** Affiliates in an order in which none comes before its parent: a bulk may end anywhere. */
export function parentsFirst(affiliates: readonly Affiliate[], file: string): Affiliate[] {
  const byId = new Map<unknown, Affiliate>()
  for (const one of affiliates) {
    if (byId.has(one.affiliate_id)) {
      throw misuse(`${file}: the affiliate "${one.affiliate_id}" is there twice.`)
    }
    byId.set(one.affiliate_id, one)
  }
  const ordered = new Set<Affiliate>()
  for (const one of affiliates) {
    const line = new Set<Affiliate>()
    let up: Affiliate | undefined = one
    while (up && !ordered.has(up)) {
      if (line.has(up)) {
        throw misuse(`${file}: the affiliate "${up.affiliate_id}" is above and below itself.`)
      }
      line.add(up)
      up = up.parent === undefined ? undefined : byId.get(up.parent)
    }
    for (const above of [...line].reverse()) ordered.add(above)
  }
  return [...ordered]
}

/** The same refusal, with ids for places that only this program knows. */
function named(error: unknown, bulk: readonly Affiliate[], done: number): unknown {
  if (!(error instanceof Refused)) return error
  const { errors } = error.said
  const renamed = errors?.map(({ pointer, ...rest }) => {
    const [, index, member] = /^\/(\d+)(.*)$/.exec(pointer) ?? []
    const id = bulk[Number(index)]?.affiliate_id
    return {
      ...rest,
      pointer: id === undefined ? pointer : `affiliate ${id.slice(0, SHOWN)} ${member}`,
    }
  })
  const answer = { ...error.answer, body: { ...error.said, errors: renamed } }
  const more =
    done > 0 ? [`  ${done} affiliates of the file were set before it; import it again.`] : []
  return new Refused(answer, more)
}
