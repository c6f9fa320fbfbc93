import { misuse } from '../../push/halt.ts'
import { type Command, membersOf, type Options, type Said } from '../command.ts'
import { walk } from '../service.ts'

const LIMIT: Options = {
  limit: {
    hint: 'N',
    about: 'a whole number from 1 on; without it all pages are walked',
    pattern: /^[1-9]\d{0,8}$/,
  },
}

/** A command that walks all pages of a list. */
export const list = (command: Omit<Command, 'method' | 'run'>): Command => ({
  ...command,
  method: 'GET',
  options: { ...command.options, ...LIMIT },
  run(service, { query: { limit, ...query }, ...request }) {
    return walk(service, { ...request, query }, limit ? Number(limit) : Number.POSITIVE_INFINITY)
  },
})

const DAY = { hint: 'YYYY-MM-DD', pattern: /^\d{4}-\d\d-\d\d$/, required: true }

/** The days that an evaluation spans. */
export const SPAN: Options = {
  from: { ...DAY, about: 'the first day' },
  to: { ...DAY, about: 'the last day; at most 366 in all' },
}

/** How long an old secret stays good beside the new one. */
export const OVERLAP: Options = {
  overlap: { hint: 'none|1h|24h|7d', about: 'how long the old one stays good; otherwise none' },
}

/** Pairs such as `word=meaning`, as an object; what is left of the first `=` is the word. */
export function pairsOf(words: readonly string[], example: string): Record<string, string> {
  const pairs = words.map((word) => {
    const [, name, value] = /^([^=]+)=(.+)$/s.exec(word) ?? []
    if (name === undefined || value === undefined) {
      throw misuse(`"${word}" is not written ${example}.`)
    }
    return [name, value] as const
  })
  const twice = pairs.find(([name], i) => pairs.some(([other], j) => j < i && other === name))
  if (twice) throw misuse(`"${twice[0]}" is there twice.`)
  return Object.fromEntries(pairs)
}

/** The body of a change: those of the options that were said, at least one. */
export const changesOf = (options: Options) => (said: Said) => {
  const change = membersOf(options, said)
  if (Object.keys(change).length === 0) throw misuse('There is nothing to change: say a setting.')
  return change
}
