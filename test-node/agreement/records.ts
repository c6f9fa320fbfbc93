import fc from 'fast-check'
import { type Schema, typeOf } from './schemas.ts'
import { GOOD, type Text } from './values.ts'
import { anything, big, names, wrongOf } from './wrong.ts'

/** A record's members in their order, each by its name and as JSON text; a name may be there twice. */
type Members = [name: string, text: string][]

type Mutation = (members: Members) => Members | string

/** The JSON text of one record: one that is right, and in most cases one mistake in it. */
export function recordsOf(schema: Schema): fc.Arbitrary<string> {
  const { properties = {}, required = [], additionalProperties } = schema
  const isOpen = additionalProperties !== false
  const good = new Map<string, Text>()
  const wrong = new Map<string, Text>()
  for (const [name, member] of Object.entries(properties)) {
    const { right, bad } = valuesOf(name, member, schema)
    good.set(name, right)
    wrong.set(name, bad)
  }
  const listed = fc.constantFrom(...good.keys())

  const right = fc
    .tuple(
      fc.record(Object.fromEntries(good), { requiredKeys: required }),
      isOpen ? extras : fc.constant([]),
    )
    .map(([members, more]): Members => [...Object.entries(members), ...more])

  const mutation: fc.Arbitrary<Mutation> = fc.oneof(
    { weight: 8, arbitrary: oneOf(wrong, put) },
    { weight: 2, arbitrary: oneOf(good, put) },
    { weight: 2, arbitrary: listed.map(drop) },
    { weight: 3, arbitrary: fc.tuple(names, anything).map((both) => put(...both)) },
    { weight: 1, arbitrary: fc.tuple(listed, CASES, fc.boolean()).map((all) => rename(...all)) },
    { weight: 1, arbitrary: oneOf(wrong, twice) },
    { weight: 1, arbitrary: big.map((text) => put('x', text)) },
    { weight: 1, arbitrary: fc.constantFrom('null', '1', '"x"', '[]', '[{}]', '{}').map(instead) },
  )
  const mutations = fc.oneof(
    { weight: 8, arbitrary: fc.constant([]) },
    { weight: 9, arbitrary: fc.tuple(mutation) },
    { weight: 1, arbitrary: fc.tuple(mutation, mutation) },
  )
  return fc.tuple(right, mutations).map(([members, all]) => {
    let record: Members | string = members
    for (const mutate of all) if (typeof record !== 'string') record = mutate(record)
    return typeof record === 'string' ? record : written(record)
  })
}

/** Of both verticals: what is a word of one is none of the other. */
const TRANSACTION_TYPES = [
  'deposit',
  'withdrawal',
  'bonus',
  'ib_rebate',
  'adjustment',
  'other',
  'challenge_fee',
  'payout',
  'reset_fee',
  'refund',
]

/** The values of a member, and others; null is a value where it is as good as left out. */
function valuesOf(name: string, member: Schema, { $defs = {} }: Schema) {
  if (member.enum) {
    const words = name === 'transaction_type' ? TRANSACTION_TYPES : member.enum
    const right = fc.constantFrom(...words.map((word) => JSON.stringify(word)))
    return { right, bad: wrongOf('', right, 500) }
  }
  const type = typeOf(member)
  if (type === null) return { right: anything, bad: anything }
  const { maxLength = 500 } = $defs[type]!
  const values = GOOD[type]!(maxLength)
  const right = member.anyOf
    ? fc.oneof({ weight: 9, arbitrary: values }, { weight: 1, arbitrary: fc.constant('null') })
    : values
  return { right, bad: wrongOf(type, values, maxLength) }
}

const decimals = GOOD.Decimal!(0)

/** Members of the sender's own: amounts and details. */
const extras = fc.oneof(
  { weight: 2, arbitrary: fc.constant<Members>([]) },
  {
    weight: 1,
    arbitrary: fc.array(
      fc.oneof(
        fc.tuple(fc.constantFrom('GGR', 'Bets', 'Product', 'é'), decimals),
        fc.tuple(
          fc.constantFrom('note', 'vip', 'level'),
          fc.constantFrom('"x"', 'true', '{"a":[1]}'),
        ),
      ),
      { minLength: 1, maxLength: 3 },
    ),
  },
)

const oneOf = (values: Map<string, Text>, make: (name: string, text: string) => Mutation) =>
  fc.oneof(...[...values].map(([name, value]) => value.map((text) => make(name, text))))

const put =
  (name: string, text: string): Mutation =>
  (members) => [...members.filter(([other]) => other !== name), [name, text]]

const drop =
  (name: string): Mutation =>
  (members) =>
    members.filter(([other]) => other !== name)

/** Of two members of one name the last one counts. */
const twice =
  (name: string, text: string): Mutation =>
  (members) => [[name, text] as [string, string], ...members]

const instead = (text: string) => () => text

type Case = (name: string) => string

const CASES = fc.constantFrom<Case[]>(
  (name) => name.toUpperCase(),
  (name) => name.toLowerCase(),
  (name) => name[0]!.toUpperCase() + name.slice(1),
  (name) => name[0]!.toLowerCase() + name.slice(1),
)

/** Gives a member another case; the right one stays beside it, or does not. */
const rename =
  (name: string, spelt: Case, stays: boolean): Mutation =>
  (members) => {
    const found = members.filter(([other]) => other === name)
    const rest = members.filter(([other]) => other !== name || (stays && spelt(name) !== name))
    return [...rest, ...found.map(([, text]): [string, string] => [spelt(name), text])]
  }

const written = (members: Members) =>
  `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`
