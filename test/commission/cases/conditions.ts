import {
  compileConditions,
  compileGlob,
  matchesGlob,
} from '../../../src/commission/engine/conditions.ts'
import { type CustomerFields, type Fact, NO_FIELDS } from '../../../src/commission/engine/facts.ts'
import type { Conditions } from '../../../src/commission/engine/plan.ts'
import {
  amountKind,
  compileBase,
  compileKind,
  compileTerm,
} from '../../../src/commission/engine/terms.ts'
import { fact } from './build.ts'
import { type Case, example } from './case.ts'

const FIELDS: Record<string, keyof CustomerFields> = {
  countries: 'country_code',
  account_types: 'trading_account_type',
  challenge_types: 'challenge_type',
  phases: 'phase',
  kyc: 'kyc_status_id',
  sales: 'sales_status_id',
  links: 'link',
}

/** Returns what each condition of a list makes of its value, another value and none. */
function evaluateList(
  name: string,
  given: (value: string | null) => [CustomerFields, Fact | null],
) {
  return [name, `not_${name}`].flatMap((one) => {
    const check = compileConditions({ [one]: ['x', 'y'] } as Conditions)
    return ['x', 'z', null].map((value) => check(...given(value)))
  })
}

const outcome = (name: string) => [null, name, name, `not_${name}`, null, null]

/** Conditions on a list, with what they make of their value, another value and none. */
const lists: readonly Case[] = [
  ...Object.entries(FIELDS).map(([name, field]) =>
    example(
      `the condition ${name}`,
      () => evaluateList(name, (value) => [{ ...NO_FIELDS, [field]: value }, fact()]),
      outcome(name),
    ),
  ),
  ...(['product', 'currency', 'subtype'] as const).map((field) => {
    const name = field === 'currency' ? 'currencies' : `${field}s`
    return example(
      `the condition ${name}`,
      () => evaluateList(name, (value) => [NO_FIELDS, fact({ [field]: value })]),
      outcome(name),
    )
  }),
  example(
    'the condition instruments',
    () => evaluateList('instruments', (value) => [NO_FIELDS, fact({ instrument: value })]),
    outcome('instruments'),
  ),
  example(
    'conditions on a fact do not hold without a fact',
    () =>
      (['products', 'currencies', 'subtypes', 'instruments', 'not_instruments'] as const).map(
        (name) => compileConditions({ [name]: ['x'] })(NO_FIELDS, null),
      ),
    ['products', 'currencies', 'subtypes', 'instruments', null],
  ),
]

const sizes = (account_size: number | null) => {
  const fields = { ...NO_FIELDS, account_size }
  return [{ min: '10', max: '20' }, { min: '10' }, { max: '20' }, {}].map((size) =>
    compileConditions({ account_size: size })(fields, null),
  )
}

const GLOBS: readonly [string, string, boolean][] = [
  ['', '', true],
  ['', 'a', false],
  ['a', '', false],
  ['*', '', true],
  ['a*', 'a', true],
  ['*a', 'ba', true],
  ['b', 'ab', false],
  ['ab', 'a', false],
  ['a', 'ab', false],
  ['a?c', 'abc', true],
  ['a?c', 'ac', false],
  ['?', '', false],
  ['*b*c', 'abbc', true],
  ['a*b', 'abab', true],
  ['a*b', 'abac', false],
  ['**a', 'a', true],
  ['a**', 'ab', true],
  ['?', '\u{1f600}', true],
]

const trade = fact({ resource: 'trading-activity', kind: '', amounts: new Map([['pnl', 1n]]) })
const event = fact({ resource: 'activities', kind: 'bet', amounts: new Map([['ngr', 1n]]) })
const ALL = [fact(), fact({ subtype: 'card' }), trade, event, { ...event, kind: 'ftd' }]
const named = (kind: Parameters<typeof compileKind>[0]) =>
  ALL.map((one) => compileKind(kind).names({ ...one }))

const weights = (source: Parameters<typeof compileBase>[0]) => {
  const { terms, fixed } = compileBase(source)
  const text = ({ units, scale }: { units: bigint; scale: number }) => Number(units) / 10 ** scale
  return [...terms.map(({ weight }) => text(weight)), text(fixed)]
}

/** Examples of conditions, globs, kinds of facts and bases. */
export const CONDITIONS: readonly Case[] = [
  ...lists,
  example(
    'without conditions all facts pass',
    () => [compileConditions(undefined)(NO_FIELDS, null), compileConditions({})(NO_FIELDS, null)],
    [null, null],
  ),
  example(
    'of several conditions the first that fails is named',
    () => compileConditions({ not_phases: ['a'], kyc: ['1'], countries: ['DE'] })(NO_FIELDS, null),
    'countries',
  ),
  example(
    'both bounds of an account size are included',
    () => [9.99, 10, 20, 20.01, null].map(sizes),
    [
      ['account_size', 'account_size', null, null],
      [null, null, null, null],
      [null, null, null, null],
      ['account_size', null, 'account_size', null],
      ['account_size', 'account_size', 'account_size', 'account_size'],
    ],
  ),
  example(
    'globs',
    () => GLOBS.map(([glob, text]) => matchesGlob(compileGlob(glob), [...text])),
    GLOBS.map(([, , matches]) => matches),
  ),
  example('instruments match by letter of any case, also beyond the symbols that are remembered', () => {
    const check = compileConditions({ instruments: ['eur*', 'S4999'] })
    const symbols = Array.from({ length: 5_002 }, (_, index) => `s${index}`)
    const matched = [...symbols, 'EURUSD', 'eurgbp', 'GBPUSD', 'EURUSD'].filter(
      (instrument) => check(NO_FIELDS, fact({ instrument })) === null,
    )
    return matched
  }, ['s4999', 'EURUSD', 'eurgbp', 'EURUSD']),
  example(
    'a kind names facts of its resource only',
    () => [
      named({ transactions: ['deposit', ''] }),
      named({ transactions: ['deposit'], subtypes: ['card'] }),
      named({ activity: 'pnl' }),
      named({ activity: 'commission' }),
      named({ event: 'bet' }),
      named({ event: 'bet', kpi: 'ngr' }),
      named({ event: 'bet', kpi: 'stake' }),
      named({ event: 'deposit' }),
    ],
    [
      [true, true, false, false, false],
      [false, true, false, false, false],
      [false, false, true, false, false],
      [false, false, false, false, false],
      [false, false, false, true, false],
      [false, false, false, true, false],
      [false, false, false, false, false],
      [false, false, false, false, false],
    ],
  ),
  example(
    'resources with the same kind and fields are told apart',
    () => [
      compileKind({ transactions: ['bet'] }).names(event),
      compileKind({ activity: 'pnl' }).names({ ...trade, resource: 'activities' }),
      compileKind({ event: '' }).names(trade),
    ],
    [false, false, false],
  ),
  example(
    'the amount of an event is `Value` or its KPI',
    () => [
      compileKind({ event: 'bet' }).field,
      compileKind({ event: 'bet', kpi: 'ngr' }).field,
      amountKind({ event: 'bet' }),
      amountKind({ event: 'bet', kpi: 'ngr' }),
      amountKind({ transactions: ['bet'] }),
    ],
    [
      'Value',
      'ngr',
      { event: 'bet', kpi: 'Value' },
      { event: 'bet', kpi: 'ngr' },
      { transactions: ['bet'] },
    ],
  ),
  example(
    'volumes are in USD',
    () => [
      compileKind({ activity: 'volume_usd' }).currencyOf(trade),
      compileKind({ activity: 'pnl' }).currencyOf(trade),
    ],
    ['USD', 'EUR'],
  ),
  example(
    'a term keeps its name',
    () =>
      [{ activity: 'pnl', name: 'n' } as const, { activity: 'pnl' } as const].map(
        (one) => compileTerm(one).name,
      ),
    ['n', null],
  ),
  example(
    'parts of parts weigh on the terms that they name',
    () => [
      weights([
        { name: 'a', activity: 'pnl', times: '2' },
        { name: 'b', activity: 'commission' },
        { name: 'c', of: ['a', 'b'], times: '0.5' },
        { name: 'd', of: ['c'], times: '-1' },
        { name: 'e', fixed: '-10' },
        { of: ['e', 'a'], times: '0.1' },
      ]),
      // A name counts for the terms after it only.
      weights([
        { name: 'x', of: ['y'], times: '1' },
        { name: 'y', activity: 'pnl' },
        { activity: 'commission' },
      ]),
      weights([{ name: 'a', of: ['a'], times: '1' }, { fixed: '1' }]),
    ],
    [[2.2, 1, -11], [1, 1, 0], [1]],
  ),
]
