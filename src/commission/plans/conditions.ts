import * as v from 'valibot'
import * as f from '../../platform/validation/fields.ts'
import { exactOptional, said } from '../../platform/validation/fields.ts'
import { ruleMessage } from '../../platform/validation/issue.ts'
import { listOf, objectOf } from '../../platform/validation/shapes.ts'
import { notNegative } from './decimals.ts'
import { PLAN_LIMITS } from './limits.ts'

const { globCharacters, globStars } = PLAN_LIMITS

/** A pattern of instruments. Few stars, because each multiplies the ways to match a symbol. */
const glob = v.pipe(
  f.textOf(globCharacters),
  v.check(
    (text) => text.split('*').length - 1 <= globStars,
    ruleMessage('pattern', `a pattern of at most ${globStars} stars`),
  ),
)

/** Returns a list of a condition, and the same list with `not_`, by their names. */
function both<const N extends string, S extends v.GenericSchema>(
  name: N,
  item: S,
  described: ReturnType<typeof said<v.InferInput<S>[]>>,
) {
  const list = () => listOf(item, PLAN_LIMITS.values)
  const entry = (ending: string) => {
    const ended = described && {
      ...described,
      description: `${described.description} ${ending}`,
    }
    return exactOptional(list(), ended)
  }
  const entries = {
    [name]: entry('is one of these.'),
    [`not_${name}`]: entry('is none of these, or is missing.'),
  }
  return entries as Record<N | `not_${N}`, ReturnType<typeof entry>>
}

const ofCustomer = {
  ...both(
    'countries',
    f.text,
    said(
      'Partners: two capital letters. Brands: as they send it; alpha-2 and alpha-3 codes of ISO 3166 and English names match each other, in any letter case, and any other text matches itself. The country of the customer',
      ['DE'],
    ),
  ),
  ...both('account_types', f.text, said('The type of the trading account', ['ECN'])),
  ...both('challenge_types', f.text, said('The type of the challenge', ['rapid'])),
  ...both('phases', f.text, said('The evaluation phase', ['funded'])),
  ...both('kyc', f.text, said('The KYC status, as sent,', ['2'])),
  ...both('sales', f.text, said('The sales status, as sent,', ['hot'])),
  ...both('links', f.text, said('The link that the customer followed', ['Lk7Qm2Xv'])),
  account_size: exactOptional(
    objectOf({
      min: exactOptional(notNegative, said('The least size, in USD.', '50000')),
      max: exactOptional(notNegative, said('The largest size, in USD.', '200000')),
    }),
    said('The size of the challenge account in USD is in this range.'),
  ),
}

const ofFact = {
  ...both(
    'instruments',
    glob,
    said(
      'In a pattern, `*` stands for any text and `?` for one character. Letter case is ignored. The whole symbol',
      ['EURUSD*'],
    ),
  ),
  ...both('products', f.text, said('The product line of the event', ['casino'])),
  ...both('currencies', f.currency, said('The currency of the record', ['EUR'])),
  ...both('subtypes', f.text, said('The subtype of the transaction', ['card'])),
}

/** The names of the conditions on a fact; all others are on the customer. */
export const FACT_CONDITIONS: ReadonlySet<string> = new Set(Object.keys(ofFact))

/** Conditions on the customer and on the fact. All must hold. */
export const conditions = objectOf({ ...ofCustomer, ...ofFact })
