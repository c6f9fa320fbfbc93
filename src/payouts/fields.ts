import { getCountrySpecifications, isValidBIC, ValidationErrorsIBAN, validateIBAN } from 'ibantools'
import * as v from 'valibot'
import { foldCountry } from '../platform/validation/country.ts'
import * as f from '../platform/validation/fields.ts'
import { member, said } from '../platform/validation/fields.ts'
import type { Issue } from '../platform/validation/issue.ts'
import { objectOf } from '../platform/validation/shapes.ts'
import { type Details, METHODS, type Method } from './model.ts'

// Bank details as a person types them. The rules that a message of the schema would quote are in `readDetails`, whose
// issues never quote a value.

const part = (max: number, words: ReturnType<typeof said<string>>) =>
  v.optional(member(f.textOf(max), words))

const KINDS = ['person', 'company'] as const
const TREATMENTS = ['domestic', 'reverse_charge', 'outside'] as const

const name = member(
  f.textOf(70),
  said('The owner of the account, as the bank knows them.', 'Ada Lovelace'),
)

const address = member(
  objectOf({
    street: part(70, said('The street.', 'Hauptstraße')),
    building: part(16, said('The number of the building.', '12a')),
    postcode: part(16, said('The postal code.', '10115')),
    city: member(f.textOf(35), said('The town.', 'Berlin')),
    country: member(f.textOf(60), said('The country: a code of ISO 3166.', 'DE')),
  }),
  said('The postal address of the owner, in the parts that banks ask for.'),
)

const numbers = {
  iban: part(
    50,
    said('The IBAN. Spaces and small letters are accepted.', 'DE89370400440532013000'),
  ),
  account: part(50, said('The number of an account that has no IBAN.', '000123456789')),
  bic: part(20, said('The BIC of the bank.', 'CHASUS33')),
  routing: part(20, said('The ABA routing number of a bank in the United States.', '021000021')),
  currency: v.optional(member(f.currency, said('The currency of the account.', 'USD'))),
}

/** The members of a payee. */
export const payeeFields = {
  name,
  kind: member(f.oneOf(...KINDS), said('Whether the owner is a person or a company.')),
  email: v.optional(
    member(
      f.email,
      said('Their e-mail address; with `paypal` that of the account.', 'ada@x.example'),
    ),
  ),
  address,
  method: member(
    f.oneOf(...METHODS),
    said(
      'How they are paid. `sepa` needs `iban`; `bank` needs `iban` or `account`, `bic` and `currency`; `wise` needs `email` or `iban`; `paypal` needs `email`; `manual` is paid outside of the service.',
    ),
  ),
  ...numbers,
  tax: v.optional(
    member(
      objectOf({
        vat_id: part(20, said('The VAT number.', 'DE123456789')),
        treatment: v.optional(
          member(f.oneOf(...TREATMENTS), said('How VAT applies to what they are paid.')),
        ),
      }),
      said('What is known about their taxes.'),
    ),
  ),
}

/** The members of a payer. */
export const payerFields = {
  name,
  address,
  ...numbers,
  currency: member(f.currency, said('The currency of the account.', 'EUR')),
}

/** The members of an object, also of one that may be left out. */
const namesIn = (schema: object): string[] =>
  'wrapped' in schema
    ? namesIn(schema.wrapped as object)
    : 'entries' in schema
      ? Object.keys(schema.entries as object)
      : []

/** The members of bank details without groups, and the group of each, by which a file or a form has them. */
const GROUPS: ReadonlyMap<string, string | null> = new Map(
  Object.entries(payeeFields).flatMap(([name, schema]): [string, string | null][] => {
    const inner = namesIn(schema)
    return inner.length > 0 ? inner.map((one) => [one, name]) : [[name, null]]
  }),
)

/** The choices of the members of bank details that are no free text. */
export const DETAIL_CHOICES: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({ kind: KINDS, method: METHODS, treatment: ['', ...TREATMENTS] }),
)

/** The names of all members of bank details, without groups. */
export const DETAIL_NAMES: readonly string[] = [...GROUPS.keys()]

/** Returns the pointer of a member in bank details. */
export const detailPointer = (name: string): string =>
  [GROUPS.get(name), name].map((one) => (one ? `/${one}` : '')).join('')

/** Returns bank details of members without groups: cells of a file, or fields of a form. Empty ones are absent. */
export function nestedDetails(flat: Iterable<readonly [name: string, text: string]>): SentDetails {
  const nested: Record<string, unknown> = { address: {} }
  for (const [name, text] of flat) {
    const group = GROUPS.get(name)
    if (!text) continue
    if (group) nested[group] = { ...(nested[group] as object), [name]: text }
    else nested[name] = text
  }
  // The operation checks each member.
  return nested as SentDetails
}

/** Returns the members of bank details without groups, each with its text; those that are absent are left out. */
export const flatDetails = (details: object): (readonly [name: string, text: string])[] =>
  [...GROUPS].flatMap(([name, group]) => {
    const of: object = group ? (Reflect.get(details, group) ?? {}) : details
    const text: unknown = Reflect.get(of, name)
    return text === undefined ? [] : [[name, String(text)] as const]
  })

/** Returns the names of members in which bank details differ from others. */
export function changedNames(before: Details, now: Details): string[] {
  const [old, flat] = [before, now].map((details) => new Map(flatDetails(details)))
  return DETAIL_NAMES.filter((name) => old?.get(name) !== flat?.get(name))
}

/** Returns what a form that changes masked details begins with: what is not masked, unless it is blocked. */
export const readableDetails = (party: { state: string; details: object | null }) =>
  new Map(
    flatDetails((party.state !== 'blocked' && party.details) || {}).filter(
      ([, text]) => !text.includes('…'),
    ),
  )

/** A payee, or a payer, as it is sent. */
export type SentDetails = Partial<v.InferOutput<v.ObjectSchema<typeof payeeFields, undefined>>> &
  v.InferOutput<v.ObjectSchema<Pick<typeof payerFields, 'name' | 'address'>, undefined>>

/**
 * The 41 countries of SEPA, and Gibraltar, whose IBANs have a code of their own. The other territories have the codes
 * of their countries.
 *
 * @see EPC409-09, EPC list of SEPA scheme countries
 */
const SEPA: ReadonlySet<string> = new Set(
  (
    'AD AL AT BE BG CH CY CZ DE DK EE ES FI FR GB GI GR HR HU IE IS IT LI LT LU LV MC MD ME MK MT NL NO PL PT RO ' +
    'RS SE SI SK SM VA'
  ).split(' '),
)

/** What each method needs: one of each group. What it may have besides. */
const METHOD_MEMBERS: Readonly<
  Record<Method, { needs: readonly (readonly (keyof Details)[])[]; may?: keyof Details }>
> = {
  sepa: { needs: [['iban']] },
  bank: { needs: [['iban', 'account'], ['bic'], ['currency']], may: 'routing' },
  wise: { needs: [['email', 'iban']] },
  paypal: { needs: [['email']] },
  manual: { needs: [] },
}

/** Returns a number without what people write between its digits. */
const compact = (text: string | undefined) => text?.replaceAll(/[\s./-]/g, '').toUpperCase()

/** Returns what is wrong with an IBAN, and what to do about it; null if nothing is. */
function ibanFault(
  iban: string,
  isSepa: boolean,
): readonly [expected: string, hint: string] | null {
  const country = iban.slice(0, 2)
  const [fault] = validateIBAN(iban).errorCodes
  if (fault === ValidationErrorsIBAN.NoIBANCountry)
    return [
      'an IBAN, which begins with two letters of a country',
      'Send `account` and `bic` if the bank has no IBANs.',
    ]
  if (fault === ValidationErrorsIBAN.WrongBBANLength) {
    const length = getCountrySpecifications()[country]?.chars
    return [
      `an IBAN of ${length} characters, as ${country} has`,
      'Characters are missing, or too many.',
    ]
  }
  if (fault !== undefined)
    return ['an IBAN whose check digits fit', 'A character is wrong, or two are swapped.']
  if (isSepa && !SEPA.has(country))
    return ['an IBAN of a SEPA country', 'Use the method `bank`, with `bic` and `currency`.']
  return null
}

/** Returns whether nine digits are a routing number: the weights of its digits are 3, 7 and 1. */
const isRouting = (text: string) =>
  /^\d{9}$/.test(text) &&
  [...text].reduce((sum, digit, i) => sum + Number(digit) * ([3, 7, 1][i % 3] ?? 0), 0) % 10 === 0

const isPrintable = (text: string) => v.is(f.label, text)

/** Returns bank details as they are stored, and what is wrong with them. Pointers are below `pointer`. */
export function readDetails(
  sent: SentDetails,
  pointer = '',
): { readonly details: Details; readonly issues: readonly Issue[] } {
  const { address, tax, email, currency } = sent
  const [iban, account, bic, routing] = [sent.iban, sent.account, sent.bic, sent.routing].map(
    compact,
  )
  const isPayer = sent.method === undefined
  const method = sent.method ?? (iban || account ? 'bank' : 'manual')
  const country = foldCountry(address.country)
  const details = {
    ...{ name: sent.name.trim(), kind: sent.kind ?? ('company' as const), method },
    address: { ...address, country: country ?? address.country },
    ...{ ...(email && { email }), ...(iban && { iban }), ...(account && { account }) },
    ...{ ...(bic && { bic }), ...(routing && { routing }), ...(currency && { currency }) },
    ...(tax && { tax: { ...tax, ...(tax.vat_id && { vat_id: compact(tax.vat_id) }) } }),
  } as Details
  const issues: Issue[] = []
  const refuse = (member: string, issue: Omit<Issue, 'pointer'>) =>
    issues.push({ pointer: `${pointer}${member && `/${member}`}`, ...issue })
  const expect = (member: string, isValid: boolean, expected: string, instruction?: string) => {
    if (isValid) return
    refuse(member, { code: 'pattern', expected, ...(instruction && { instruction }) })
  }
  expect('name', isPrintable(details.name), 'printable characters')
  for (const [name, text] of Object.entries(details.address)) {
    expect(`address/${name}`, isPrintable(text), 'printable characters')
  }
  expect('address/country', country !== null, 'a code of ISO 3166', 'Send one such as `DE`.')
  const { needs, may } = METHOD_MEMBERS[method]
  for (const group of isPayer ? [] : needs) {
    const present = group.filter((one) => details[one])
    const [only = ''] = group
    if (present.length === 0 && group.length === 1)
      refuse(only, { code: 'required', expected: `it: \`${method}\` needs it` })
    else if (present.length === 0 || (present.includes('account') && present.length > 1))
      refuse(only, {
        ...{ code: 'choice', expected: group.join(', ') },
        ...(present.length > 0 && { received: 'both' }),
      })
  }
  const fitting: readonly string[] = [...needs.flat(), may ?? '']
  for (const name of Object.keys(numbers) as (keyof typeof numbers)[]) {
    if (!isPayer && details[name] && !fitting.includes(name))
      refuse(name, { code: 'not_applicable', expected: `\`${method}\` does not need it` })
  }
  const fault = iban ? ibanFault(iban, method === 'sepa') : null
  if (fault) expect('iban', false, ...fault)
  expect('account', !account || /^[A-Z\d]{1,34}$/.test(account), '1 to 34 letters and digits')
  expect('bic', !bic || isValidBIC(bic), 'a BIC of 8 or 11 characters')
  expect('routing', !routing || isRouting(routing), 'nine digits whose check digit fits')
  return { details, issues }
}
