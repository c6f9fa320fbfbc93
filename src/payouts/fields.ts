import { isValidBIC, isValidIBAN } from 'ibantools'
import * as v from 'valibot'
import { validateAt } from '../platform/http/read-fields.ts'
import { foldCountry, isCountryCode } from '../platform/validation/country.ts'
import * as f from '../platform/validation/fields.ts'
import { member, optional, said } from '../platform/validation/fields.ts'
import { type Issue, ruleMessage } from '../platform/validation/issue.ts'
import { maskNumbers } from '../platform/validation/mask-numbers.ts'
import { isObject } from '../platform/validation/record-validator.ts'
import { objectOf } from '../platform/validation/shapes.ts'
import { NETWORKS } from '../platform/validation/wallets.ts'
import { isHidden } from './details.ts'
import { isPain } from './files/file.ts'
import { missingLetters } from './files/sepa-text.ts'
import { type Details, METHODS, type Party } from './model.ts'
import { numberOf, readSeen, vatId } from './number-fields.ts'

// Bank details as a person types them. Messages never quote them.

const PLAIN = ruleMessage(
  'pattern',
  'text without the number of an account, that does not begin with `=`, `+`, `-` or `@`',
)

/**
 * Returns whether no spreadsheet computes a text, or a part of it after a semicolon, and no account is named where
 * everybody reads it: files and pages have it as it was approved.
 */
const isPlain = (text: string) =>
  !/(?:^|;)\s*[=+@-]/.test(text.normalize('NFKC')) && maskNumbers(text) === text

const labelOf = (max: number) => v.pipe(f.labelOf(max), v.check(isPlain, PLAIN))

/** Returns whether nine digits are a routing number: the weights of its digits are 3, 7 and 1. */
const isRouting = (text: string) =>
  /^\d{9}$/.test(text) &&
  [...text].reduce((sum, digit, i) => sum + Number(digit) * ([3, 7, 1][i % 3] ?? 0), 0) % 10 === 0

/**
 * The 41 countries of SEPA, and Gibraltar, whose IBANs have a code of their own. The other territories have the codes
 * of their countries.
 *
 * @see EPC409-09, EPC list of SEPA scheme countries
 */
const SEPA =
  'AD AL AT BE BG CH CY CZ DE DK EE ES FI FR GB GI GR HR HU IE IS IT LI LT LU LV MC MD ME MK MT NL NO PL PT RO RS SE SI SK SM VA'

const country = v.pipe(
  f.textOf(60),
  v.transform((text) => foldCountry(text) ?? text),
  v.check(isCountryCode, ruleMessage('pattern', 'a code of ISO 3166, such as `DE`')),
)

const KINDS = ['person', 'company'] as const
const ACCOUNT_TYPES = ['checking', 'savings'] as const
const NETWORK_NAMES = Object.keys(NETWORKS) as (keyof typeof NETWORKS)[]
const ASSETS = ['USDC', 'USDT'] as const
const TREATMENTS = ['domestic', 'exempt', 'reverse_charge', 'outside', 'none'] as const

const addressFields = {
  street: optional(
    labelOf(70),
    said('The street, or the post box. Invoices need it.', 'Hauptstraße'),
  ),
  building: optional(labelOf(16), said('The number of the building.', '12a')),
  postcode: optional(labelOf(16), said('The postal code.', '10115')),
  city: member(labelOf(35), said('The town.', 'Berlin')),
  country: member(country, said('The country: a code of ISO 3166.', 'DE')),
}

/** How VAT applies to what a payee earns: proposed with their details, decided with the approval of these. */
export const treatmentFields = {
  treatment: optional(
    f.oneOf(...TREATMENTS),
    said(
      'How VAT applies. `domestic`: at the rate of the account. `exempt`: with the reason. `reverse_charge`: both VAT numbers are known. `outside`: not subject to it. `none`: they do no business, and get no invoice.',
    ),
  ),
  exempt_reason: optional(
    labelOf(140),
    said('Why they are exempt, as invoices say it.', '§ 19 UStG'),
  ),
}

const taxFields = {
  vat_id: optional(vatId, said('The VAT number.', 'DE123456789')),
  ...treatmentFields,
}

/** Returns which member an invoice of details lacks; null if none is missing, or if they get no invoice. */
export function missingForInvoice({ address, tax = {} }: Details) {
  const { treatment, vat_id, exempt_reason } = tax
  if (!treatment || treatment === 'none') return null
  if (!address.street) return 'street'
  if (treatment === 'exempt') return exempt_reason ? null : 'exempt_reason'
  return treatment !== 'outside' && !vat_id ? 'vat_id' : null
}

const name = member(labelOf(70), said('The owner, as the bank knows them.', 'Ada Lovelace'))
const email = member(
  v.pipe(f.email, v.check(isPlain, PLAIN)),
  said('Their e-mail address; `paypal` pays to it.', 'ada@x.example'),
)
const address = member(objectOf(addressFields), said('The postal address of the owner.'))
const tax = optional(objectOf(taxFields), said('What is known about their taxes.'))

const iban = member(
  numberOf('an IBAN of its country, whose check digits fit', isValidIBAN),
  said('The IBAN. Spaces and small letters are accepted.', 'DE89370400440532013000'),
)
const account = member(
  numberOf('1 to 34 letters and digits', (text) => /^[A-Z\d]{1,34}$/.test(text)),
  said('The number of an account that has no IBAN.', '000123456789'),
)
const account_type = optional(
  f.oneOf(...ACCOUNT_TYPES),
  said('The type of an account in the United States; `checking` if absent.', 'checking'),
)
const bic = member(numberOf('a BIC of a bank', isValidBIC), said('The BIC.', 'CHASUS33'))
const routing = member(
  numberOf('nine digits whose check digit fits', isRouting),
  said('The ABA routing number of a bank in the United States.', '021000021'),
)
const capitals = v.pipe(v.string(), v.toUpperCase(), f.currency)
const currency = member(capitals, said('The currency of the account.', 'USD'))

const network = member(f.oneOf(...NETWORK_NAMES), said('The network of the wallet.', 'ethereum'))
const asset = member(
  f.oneOf(...ASSETS),
  said('What the wallet receives, one for each USD. Tron has no `USDC`.', 'USDC'),
)

/** Returns the address of a wallet of a network; without one, of any text. */
const walletOf = (name: unknown) => {
  const found = NETWORK_NAMES.find((one) => one === name)
  const { isAddress, expected } = found ? NETWORKS[found] : { isAddress: () => true, expected: '' }
  return member(
    v.pipe(f.text, v.transform(readSeen), v.check(isAddress, ruleMessage('pattern', expected))),
    said('The address of the wallet.', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'),
  )
}

const atBank = v.partial(v.object({ iban, account, bic, routing, currency })).entries
const inWallet = v.partial(v.object({ network, asset, wallet_address: walletOf('') })).entries

const ofPayee = {
  name,
  kind: member(f.oneOf(...KINDS), said('Whether the owner is a person or a company.')),
  email: v.optional(email),
  address,
  method: member(
    f.oneOf(...METHODS),
    said(
      'How they are paid. `sepa` needs `iban`; `bank` needs `currency`, and `iban` with `bic`, or `account` with `bic` or `routing`; `wise` needs `email` or `iban`; `paypal` needs `email`; `wallet` needs `network`, `asset` and `wallet_address`; `manual` is paid outside of the service.',
    ),
  ),
}

/** The members of a payee. */
export const payeeFields = { ...ofPayee, ...atBank, account_type, ...inWallet, tax }

/** The members of a payer. */
export const payerFields = { name, address, ...atBank, currency }

const GROUPS = { address: addressFields, tax: taxFields }

/** The pointers of all members of bank details, by their names. */
const POINTERS = new Map(
  Object.keys(payeeFields).flatMap((name) => {
    const inner = Object.keys(Reflect.get(GROUPS, name) ?? {})
    return inner.length > 0
      ? inner.map((one) => [one, `/${name}/${one}`] as const)
      : [[name, `/${name}`] as const]
  }),
)

/** The choices of the members of bank details that are no free text. */
export const DETAIL_CHOICES: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    kind: KINDS,
    method: METHODS,
    account_type: ['', ...ACCOUNT_TYPES],
    network: ['', ...NETWORK_NAMES],
    asset: ['', ...ASSETS],
    treatment: ['', ...TREATMENTS],
  }),
)

/** The names of all members of bank details, without groups. */
export const DETAIL_NAMES: readonly string[] = [...POINTERS.keys()]

/** Returns the pointer of a member in bank details. */
export const detailPointer = (name: string): string => POINTERS.get(name) ?? `/${name}`

/** Returns bank details of members without groups: cells of a file, or fields of a form. Empty ones are absent. */
export function nestedDetails(flat: Iterable<readonly [name: string, value: unknown]>) {
  const nested: Record<string, unknown> = { address: {} }
  for (const [name, value] of flat) {
    const [, at = name, inner] = detailPointer(name).split('/')
    if (value) nested[at] = inner ? { ...(nested[at] as object), [inner]: value } : value
  }
  return nested
}

/** Returns the members of bank details without groups, each with its text; those that are absent are left out. */
export function flatDetails(details: object): (readonly [name: string, text: string])[] {
  const { address, tax, ...others } = details as Partial<Details>
  const flat: Readonly<Record<string, string>> = { ...others, ...address, ...tax }
  return DETAIL_NAMES.flatMap((name) => (flat[name] ? [[name, flat[name]] as const] : []))
}

/** Returns the names of members in which bank details differ from others. */
export function changedNames(before: object, now: object): string[] {
  const [old, flat] = [before, now].map((details) => new Map(flatDetails(details)))
  return DETAIL_NAMES.filter((name) => old?.get(name) !== flat?.get(name))
}

/** Returns what a form that changes masked details begins with: what is not masked, unless it is blocked. */
export function readableDetails(party: { state: string; details: object | null }) {
  const shown = (party.state !== 'blocked' && party.details) || {}
  return new Map(flatDetails(shown).filter(([, text]) => !text.includes('…')))
}

const NOT_SEPA = ruleMessage('not_applicable', '`sepa` needs an IBAN of a SEPA country')
const isSepa = (text: string) => SEPA.includes(text.slice(0, 2))
const sepaIban = v.pipe(iban, v.check(isSepa, NOT_SEPA))

const NOT_ON_TRON = ruleMessage('pattern', '`USDT`: Tron has no `USDC`')
const isOnTron = (name: (typeof ASSETS)[number]) => name !== 'USDC'

/** Returns what payees have beside what all have who are paid to a wallet of a network. */
const walletForm = (name: unknown): v.ObjectEntries => ({
  network,
  asset: name === 'tron' ? v.pipe(asset, v.check(isOnTron, NOT_ON_TRON)) : asset,
  wallet_address: walletOf(name),
})

/** What payees of a method have beside what all have. Of several forms, the first member tells which one it is. */
const FORMS = new Map<unknown, readonly v.ObjectEntries[]>([
  ['sepa', [{ iban: sepaIban }]],
  [
    'bank',
    [
      { iban, bic, currency },
      { routing, account, account_type, bic: atBank.bic, currency },
      { account, account_type, bic, currency },
    ],
  ],
  ['wise', [{ iban }, { email }]],
  ['paypal', [{ email }]],
  ['manual', [{}]],
])

/** Returns whether payees of a method have a member. A form also sends those that it hides. */
export function isOfMethod(method: string, name: string): boolean {
  const forms = method === 'wallet' ? [walletForm('')] : FORMS.get(method)
  const at = detailPointer(name).split('/')[1] ?? ''
  return !forms || at in ofPayee || at === 'tax' || forms.some((form) => at in form)
}

/** Returns the members of what is sent. */
function fieldsFor(party: Party, sent: object): v.ObjectEntries {
  if (party === 'payer') return payerFields
  const method = Reflect.get(sent, 'method')
  const wallets = method === 'wallet' && [walletForm(Reflect.get(sent, 'network'))]
  const forms = wallets || (FORMS.get(method) ?? [{ ...atBank, ...inWallet }])
  const form = forms.find((one) => Reflect.get(sent, Object.keys(one)[0] ?? '')) ?? forms[0]
  return { ...ofPayee, ...form, tax }
}

const PERSONAL: ReadonlySet<string> = new Set(Object.keys(payeeFields))

/** What files of banks have of a payee or payer, in the letters of banks. */
const WRITTEN = ['name', ...Object.keys(addressFields)]

/** The letters that an error names. */
const NAMED_LETTERS = 10

/** Returns what banks cannot write of bank details, if files of banks have them. */
const unwritable = (details: Details): Issue[] =>
  flatDetails(isPain(details.method) ? details : {}).flatMap(([name, text]): Issue[] => {
    const missing = WRITTEN.includes(name) ? missingLetters(text) : []
    const expected = missing.slice(0, NAMED_LETTERS).join(' ')
    return expected ? [{ pointer: detailPointer(name), code: 'no_latin', expected }] : []
  })

/** What is stored, and whether another person entered it and nobody has approved it. */
export interface Kept {
  readonly details: Details
  readonly isUnapproved: boolean
}

/** The members that name an account, and those that another name of one replaces. */
const REPLACED = new Map([
  ['iban', ['account', 'routing']],
  ['account', ['iban']],
  ['routing', ['iban']],
  ['wallet_address', []],
])

/** Returns what is sent, with what is hidden and left empty as it is stored, and which members these are. */
function withKept(party: Party, sent: unknown, { details, isUnapproved }: Kept) {
  if (!isObject(sent)) return { sent, issues: [] }
  const own = new Map(flatDetails(sent))
  const left = flatDetails(details).filter(
    ([name]) =>
      isHidden(name) && !own.has(name) && !REPLACED.get(name)?.some((other) => own.has(other)),
  )
  const merge = (stored: typeof left) => {
    const all = { ...sent }
    for (const [name, value] of Object.entries(nestedDetails(stored))) {
      const mine = sent[name]
      if (mine === undefined) all[name] = value
      else if (isObject(mine) && isObject(value)) all[name] = { ...value, ...mine }
    }
    return all
  }
  const fields = fieldsFor(party, merge(left))
  const isTaken = (name: string) => (detailPointer(name).split('/')[1] ?? '') in fields
  const kept = left.filter(([name]) => isTaken(name))
  // Otherwise an approver could enter an account, wait for another to change something else, and approve it.
  const names = (name: string) => REPLACED.has(name) || (name === 'email' && fields.email === email)
  const issues = kept.flatMap(([name]): Issue[] => {
    const instruction = 'Another person entered it, and nobody has approved it. Enter it again.'
    const pointer = detailPointer(name)
    return isUnapproved && names(name) ? [{ pointer, code: 'required', instruction }] : []
  })
  return { sent: merge(kept), issues }
}

/** What is stored of each payer. */
const PAYER = { kind: 'company', method: 'bank' } as const

/**
 * Returns bank details as they are stored, and what is wrong with them. Pointers are below `pointer`. What is hidden and
 * left empty is as `stored` has it.
 */
export function readDetails(
  party: Party,
  entered: unknown,
  pointer = '',
  stored: Kept | null = null,
) {
  const { sent, issues: unkept } = stored
    ? withKept(party, entered, stored)
    : { sent: entered, issues: [] }
  const fields = fieldsFor(party, Object(sent))
  const entity = `a ${party} of this method`
  const { issues, output } = validateAt(sent, fields, '', entity, PERSONAL)
  // Without issues every member is valid.
  const details = { ...output, ...(party === 'payer' && PAYER) } as Details
  const forms = FORMS.get(Reflect.get(Object(sent), 'method')) ?? []
  const [other] = Object.keys(forms.slice(1).at(-1) ?? {})
  const compare = 'Compare each character.'
  const advice: Readonly<Record<string, string | undefined>> = {
    '/iban required': other && `Send \`iban\` or \`${other}\`.`,
    '/iban pattern': compare,
    '/iban not_applicable': 'Outside of SEPA, the method is `bank`.',
    '/bic required': 'Send `bic`, or the `routing` of an account in the United States.',
    '/routing pattern': compare,
    '/wallet_address pattern': compare,
  }
  const all = [...unkept, ...issues, ...unwritable(details)].map((one) => {
    const instruction = one.instruction ?? advice[`${one.pointer} ${one.code}`]
    return { ...one, ...(instruction && { instruction }), pointer: pointer + one.pointer }
  })
  return { details, issues: all }
}
