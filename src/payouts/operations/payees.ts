import * as v from 'valibot'
import { requireAffiliate } from '../../affiliates/operations/affiliate-keys.ts'
import { readCsv } from '../../commission/csv.ts'
import { unconfiguredAmong } from '../../platform/directory/affiliates.ts'
import { ApiError } from '../../platform/errors.ts'
import { type AccountCall, accountList, accountOperation } from '../../platform/http/operation.ts'
import {
  checkNewId,
  notFound,
  validateAt,
  validateFields,
  validationFailed,
} from '../../platform/http/read-fields.ts'
import { count, day, time, version } from '../../platform/validation/answer-fields.ts'
import { described, named } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, said } from '../../platform/validation/fields.ts'
import type { Issue } from '../../platform/validation/issue.ts'
import { listCurrent } from '../db/payees.ts'
import {
  DETAIL_NAMES,
  nestedDetails,
  payeeFields,
  payerFields,
  type SentDetails,
} from '../fields.ts'
import { DETAILS_STATES, PAYOUT_LIMITS, type Party } from '../model.ts'
import {
  approveDetails,
  blockDetails,
  type EnteredDetails,
  enterDetails,
  eraseDetails,
  presentDetails,
  revealDetails,
  showDetails,
} from '../payees.ts'

const text = v.string()

const reason = { reason: member(f.reason, said('Why.', 'Confirmed by telephone')) }

/** Bank details as answers have them. */
const details = described(() =>
  named(
    'BankDetails',
    v.object({
      ...payeeFields,
      email: v.optional(text),
      address: member(
        v.record(text, text),
        'The postal address; masked, only `city` and `country`.',
      ),
    }),
  ),
)

const shown = described(() => ({
  state: member(
    v.picklist(['missing', ...DETAILS_STATES]),
    '`entered`: it waits for an approval. `approved`: it is paid from `payable_from` on. `returned`: a bank refused the account. `blocked`: a person did.',
  ),
  version: member(count, 'The number of the version; 0 if nothing was ever entered.'),
  details: v.nullable(member(details, 'Masked. Null if nothing is entered.')),
  previous: v.nullable(member(details, 'What was approved before, masked, or null.')),
  changed: member(
    v.array(text),
    'The members in which they differ, also where both are masked in the same way.',
  ),
  entered_by: v.nullable(member(text, 'Who entered it.')),
  entered_at: v.nullable(member(time, 'When.')),
  approvals: member(v.array(text), 'Who approved it.'),
  approvals_required: member(count, 'How many different persons must approve it.'),
  payable_from: v.nullable(
    member(
      time,
      'From when on it is paid: the hold of the account is over then. Null until approved.',
    ),
  ),
  reason: v.nullable(member(text, 'Why it came back or is blocked.')),
  shared_with: member(
    v.array(text),
    'Other affiliates whose current details name the same account, at most 10.',
  ),
}))

interface Of<K extends string> {
  readonly party: Party
  readonly key: K
  readonly noun: string
  /** Their ids in OpenAPI end with it. */
  readonly name: string
  readonly of: string
  readonly path: string
  readonly id: v.GenericSchema<string>
  readonly fields: v.ObjectEntries
  /** Refuses an id that the account does not have. */
  require(call: AccountCall, id: string, isNew: boolean): Promise<void> | void
}

/** Returns what the operations of a party share. */
function sharedOf<K extends string>({ party, key, name, path, id }: Of<K>) {
  const params = { [key]: id } as Record<K, v.GenericSchema<string>>
  const answer = described(() => named(name, v.object({ ...params, ...shown })))
  return {
    answer,
    here: { topic: 'payouts', path, params } as const,
    idOf: (input: object): string => Reflect.get(input, key),
    show: async (call: AccountCall, id: string) =>
      ({ [key]: id, ...(await showDetails(call, party, id)) }) as unknown as v.InferOutput<
        typeof answer
      >,
  }
}

function readsOf<K extends string>(it: Of<K>) {
  const { party, key, noun, name, of } = it
  const { answer, here, idOf, show } = sharedOf(it)
  const list = accountList({
    topic: 'payouts',
    id: `list${name}s`,
    path: `/${noun}s`,
    role: 'viewer',
    params: {
      state: v.optional(
        member(v.picklist(DETAILS_STATES), said('Only those in this state.', 'entered')),
      ),
    },
    words: described(() => ({
      description: `Lists the ${noun}s of an account, ordered by id. Details are masked.`,
      answer,
      command: {
        name: `${noun}s list`,
        columns: [key, 'state', 'version', 'entered_by', 'entered_at', 'payable_from'],
      },
    })),
    async list(call, { state }, page) {
      const found = await listCurrent(call.db, { account: call.account.id, party }, state, page)
      const data = found.data.map(async (row) => ({
        [key]: row.id,
        ...(await presentDetails(call, { party }, row.id, row)),
      }))
      return { ...found, data: await Promise.all(data) } as never
    },
  })
  const get = accountOperation({
    ...here,
    id: `get${name}`,
    method: 'GET',
    role: 'viewer',
    words: described(() => ({
      description: `Returns the ${noun} ${of}, with what was approved before. Details are masked.`,
      answer,
      command: { name: `${noun}s show` },
    })),
    async run(call, input) {
      await it.require(call, idOf(input), false)
      const found = await show(call, idOf(input))
      if (party === 'payer' && found.state === 'missing') throw notFound('payer', idOf(input))
      return found as never
    },
  })
  return { list, get }
}

function entriesOfParty<K extends string>(it: Of<K>) {
  const { party, key, noun, name, of } = it
  const { answer, here, idOf, show } = sharedOf(it)
  const put = accountOperation({
    ...here,
    id: `put${name}`,
    method: 'PUT',
    role: 'manager',
    whole: true,
    body: { details: v.strictObject(it.fields) },
    words: described(() => ({
      description: `Enters the ${noun} ${of}. Another person must approve it, and until then, and until the hold of the account is over, nothing is paid. The same details again change nothing, unless they are blocked or came back.`,
      answer,
      errors: ['conflict'],
      command: { name: `${noun}s put` },
    })),
    async run(call, input) {
      const id = idOf(input)
      await it.require(call, id, true)
      const sent = validateFields(input.details, it.fields) as SentDetails
      await enterDetails(call, party, [{ id, sent }])
      return show(call, id) as never
    },
  })
  const erase = accountOperation({
    ...here,
    id: `erase${name}`,
    method: 'DELETE',
    words: described(() => ({
      description: `Erases the details of the ${noun} ${of}. Versions that no payment used are erased at once. The others stay for \`retain_years\` after their last payment; until then nobody can read or use them.`,
      answer: v.object({
        kept: member(
          v.array(v.object({ version, until: member(day, 'The day on which it is erased.') })),
          'The versions that stay.',
        ),
      }),
      errors: ['conflict'],
      command: {
        name: `${noun}s erase`,
        confirm: { warning: `This erases the ${noun} {${key}} of account {account}.`, name: key },
      },
    })),
    async run(call, input) {
      await it.require(call, idOf(input), false)
      return { kept: await eraseDetails(call, party, idOf(input)) }
    },
  })
  return { put, erase }
}

function decisionsOf<K extends string>(it: Of<K>) {
  const { party, noun, name, of, path } = it
  const { answer, here, idOf, show } = sharedOf(it)
  const ofDecision = (verb: string, description: string) => ({
    ...{ ...here, id: `${verb}${name}`, method: 'POST' as const, path: `${path}/${verb}` },
    words: described(() => ({
      ...{ description, answer, errors: ['conflict'] as const },
      command: { name: `${noun}s ${verb}` },
    })),
  })
  const approve = accountOperation({
    ...ofDecision(
      'approve',
      `Approves a version of the ${noun} ${of}: only the current one, and never what the caller, or a person whom they invited to the portal, entered. If the account requires two persons, another one must approve it, too. Of details that came back it says that they may be paid again.`,
    ),
    body: { version },
    async run(call, input) {
      await approveDetails(call, party, idOf(input), input.version)
      return show(call, idOf(input)) as never
    },
  })
  const block = accountOperation({
    ...ofDecision(
      'block',
      `Blocks the ${noun} ${of}: nothing is paid until details are entered anew and approved.`,
    ),
    body: reason,
    async run(call, input) {
      await blockDetails(call, party, idOf(input), input.reason)
      return show(call, idOf(input)) as never
    },
  })
  const reveal = accountOperation({
    ...ofDecision('reveal', ''),
    body: reason,
    words: described(() => ({
      description: `Returns the details of the ${noun} ${of} in full. The audit log says who read them, and why.`,
      answer: v.object({ version: count, details }),
      command: { name: `${noun}s reveal` },
    })),
    run: async (call, input) =>
      (await revealDetails(call, party, idOf(input), input.reason)) as never,
  })
  return { approve, block, reveal }
}

/** Returns the operations on the details of a party: payees and payers have the same. */
const operationsOf = <const K extends string>(it: Of<K>) => ({
  ...readsOf(it),
  ...entriesOfParty(it),
  ...decisionsOf(it),
})

/** The operations on the bank details of affiliates. */
export const PAYEE = operationsOf({
  ...{ party: 'payee', key: 'affiliate_id', noun: 'payee', name: 'Payee', of: 'of an affiliate' },
  path: '/affiliates/{affiliate_id}/payee',
  id: member(text, said('The id of the affiliate.', 'IB-07')),
  fields: payeeFields,
  require: requireAffiliate,
})

/** The operations on the bank accounts from which an account pays. */
export const PAYER = operationsOf({
  ...{ party: 'payer', key: 'payer', noun: 'payer', name: 'Payer', of: 'of an account' },
  path: '/payers/{payer}',
  id: member(text, said('The id of the payer: small letters, digits and hyphens.', 'main')),
  fields: payerFields,
  require: (_, id, isNew) => (isNew ? checkNewId(id) : undefined),
})

/** Reads a file of payees. Throws `invalid_request`, `validation_failed`. */
function readFile(csv: string): { entered: EnteredDetails[]; issues: Issue[] } {
  const { rows, fault } = readCsv(csv)
  if (fault)
    throw new ApiError('invalid_request', { detail: `Line ${fault.line}: ${fault.reason}.` })
  const [header = [], ...data] = rows
  const columns = header.map((name) => name.trim().toLowerCase().replaceAll(' ', '_'))
  const limit = PAYOUT_LIMITS.transfers
  if (data.length < 1 || data.length > limit) {
    const [expected, received] = [`1 to ${limit}`, String(data.length)]
    throw validationFailed([{ pointer: '', code: 'record_count', expected, received }])
  }
  const issues: Issue[] = []
  const seen = new Set<string>()
  const entered = data.flatMap((cells, i): EnteredDetails[] => {
    const pointer = `/${i}`
    const fields = { affiliate_id: f.affiliateId, ...payeeFields }
    const row = columns.map((name, column) => [name, cells[column]?.trim() ?? ''] as const)
    const checked = validateAt(nestedDetails(row), fields, pointer)
    const { affiliate_id: id, ...sent } = checked.output
    issues.push(...checked.issues)
    if (id !== undefined && seen.has(id)) issues.push({ pointer, code: 'duplicate_key' })
    if (id === undefined || checked.issues.length > 0) return []
    seen.add(id)
    return [{ id, pointer, sent: sent as SentDetails }]
  })
  return { entered, issues }
}

export const importPayees = accountOperation({
  topic: 'payouts',
  id: 'importPayees',
  method: 'POST',
  path: '/payees',
  role: 'manager',
  whole: true,
  body: {
    csv: member(
      text,
      said(
        `A header with the names of columns, in any order, and a row for each affiliate: affiliate_id, ${DETAIL_NAMES.join(', ')}. At most ${PAYOUT_LIMITS.transfers} rows.`,
        'affiliate_id,name,kind,city,country,method,iban\nIB-07,Ada Lovelace,person,Berlin,DE,sepa,DE89370400440532013000\n',
      ),
    ),
  },
  words: described(() => ({
    description:
      'Enters the payees of a file, all or none. In a pointer, `/0` is the first row below the header. Each waits for an approval, unless the same details are entered or approved already.',
    answer: v.object({
      received: member(count, 'The rows of the file.'),
      changed: member(count, 'Those that are new.'),
    }),
    errors: ['conflict', 'invalid_request'],
    command: { name: 'payees import' },
  })),
  async run(call, { csv }) {
    const { entered, issues } = readFile(csv)
    const ids = entered.map(({ id }) => id)
    const unknown = await unconfiguredAmong(call.db, call.account.id, ids)
    for (const { id, pointer = '' } of entered.filter(({ id }) => unknown.has(id))) {
      issues.push({ pointer: `${pointer}/affiliate_id`, code: 'unknown_affiliate', value: id })
    }
    const changed = await enterDetails(call, 'payee', entered, issues)
    return { received: entered.length, changed }
  },
})

/** The operations on payees and payers. */
export const PAYEE_OPERATIONS = [...Object.values(PAYEE), importPayees, ...Object.values(PAYER)]
