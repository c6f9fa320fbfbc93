import { readFileSync } from 'node:fs'
import { firstRules } from '../../../src/fraud/rule-sets.ts'
import type { RuleTerms } from '../../../src/fraud/rules.ts'
import { fraudRuleWords } from '../../../src/fraud/words.ts'
import { escapeText } from '../../../src/validation/quote.ts'
import { messageOf, usageError } from '../../exit-error.ts'
import { list, object } from '../format.ts'
import type { Input, Operation } from '../operation.ts'

/** The verticals, each with a set of rules. */
const VERTICALS = ['forex', 'igaming', 'prop-trading'] as const

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const parseFile = (file: string): unknown => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw usageError(`${file} cannot be read as JSON: ${messageOf(error)}`)
  }
}

/**
 * Reads the rule of a JSON file, which may be what `fraud version --json` prints, or a set that has the rule
 * under its id.
 */
export function readRule({ operands: { file = '', rule = '' } }: Input): object {
  const body = parseFile(file)
  if (!isObject(body)) throw usageError(`${file} is not a fraud rule.`)
  if (isObject(body.terms)) return body.terms
  if ('kind' in body) return body
  const own = Object.hasOwn(body, rule) ? body[rule] : undefined
  if (isObject(own)) return own
  const isSet = Object.values(body).some((one) => isObject(one) && 'kind' in one)
  if (!isSet) return body
  throw usageError(`${file} has no rule \`${rule}\`. It has ${Object.keys(body).join(', ')}.`)
}

/** Lists the rules of all verticals, or returns those of the one that is named. */
function readSets({ options: { print } }: Input): object {
  const today = new Date().toISOString().slice(0, 'YYYY-MM-DD'.length)
  const [wanted] = print ?? []
  const vertical = VERTICALS.find((one) => one === wanted)
  if (vertical) return firstRules(vertical, today)
  if (wanted !== undefined) {
    throw usageError(`There is no set \`${wanted}\`. Use ${VERTICALS.join(', ')}.`)
  }
  const data = VERTICALS.flatMap((vertical) =>
    Object.entries(firstRules(vertical, today)).map(([rule, terms]) => ({
      vertical,
      rule,
      ...terms,
    })),
  )
  return { data }
}

/** Formats a version: its sentences, and then its members. */
function formatVersion(body: unknown, input: Input): string {
  const { terms, ...version } = body as { terms: RuleTerms }
  const { opens, limits } = fraudRuleWords(terms)
  // The first day is a member of the version, too.
  const { effective_from: _, ...others } = terms
  const shown = { ...version, terms: others }
  return [...[opens, ...limits].map(escapeText), '', object(shown, input)].join('\n')
}

/** The rules of the fraud review. */
export const FRAUD: readonly Operation[] = [
  {
    noun: 'fraud',
    verb: 'version',
    summary: 'Shows a version in words, and its terms. --json prints them with all defaults.',
    example: 'acme minimum-deposit 2',
    method: 'GET',
    path: 'accounts/{account}/fraud-rules/{rule}/versions/{version}',
    format: formatVersion,
  },
  {
    noun: 'fraud',
    verb: 'put',
    summary: 'Stores a rule of a JSON file as its next version. The file may be a set.',
    example: 'acme minimum-deposit rules.json',
    method: 'PUT',
    path: 'accounts/{account}/fraud-rules/{rule}',
    argument: 'file',
    run: (send, request, input) => send({ ...request, query: {}, body: readRule(input) }),
    format: object,
  },
  {
    noun: 'fraud',
    verb: 'sets',
    summary: 'Lists the rules with which new accounts start, or prints a set. Sends no request.',
    example: '--print forex',
    method: 'GET',
    path: '',
    isLocal: true,
    options: {
      print: { value: 'vertical', description: 'Prints this set as JSON, for fraud put.' },
    },
    run: async (_send, _request, input) => readSets(input),
    format: (body, input) =>
      input.options.print
        ? JSON.stringify(body, null, 2)
        : list(['vertical', 'rule', 'name', 'kind', 'severity', 'action'])(body, input),
  },
]
