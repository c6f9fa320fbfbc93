import * as v from 'valibot'
import { requireAffiliate } from '../../affiliates/operations/affiliate-keys.ts'
import { unconfiguredAmong } from '../../platform/directory/affiliates.ts'
import { ApiError } from '../../platform/errors.ts'
import { type AnyOperation, type Call, list, operation } from '../../platform/http/operation.ts'
import { type CommandWords, pascalCase } from '../../platform/http/operation-words.ts'
import { checkNewId, readItems } from '../../platform/http/read-fields.ts'
import { readCsv } from '../../platform/money/csv.ts'
import { count, time, version } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import type { Issue } from '../../platform/validation/issue.ts'
import { listCurrent, listVersions as readVersions } from '../db/payees.ts'
import {
  DETAIL_NAMES,
  nestedDetails,
  payeeFields,
  payerFields,
  treatmentFields,
} from '../fields.ts'
import { DETAILS_STATES, PAYOUT_LIMITS, type Party } from '../model.ts'
import * as payees from '../payees.ts'

const text = v.string()

const reason = { reason: member(f.reason, said('Why.', 'Confirmed by telephone')) }

/** Bank details as answers have them. */
const details = component('BankDetails', () => ({
  ...payeeFields,
  email: v.optional(text),
  address: v.record(text, text),
}))

const shown = described(() => ({
  state: member(
    v.picklist(DETAILS_STATES),
    '`entered`: it waits for an approval. `approved`: it is paid from `payable_from` on. `returned`: a bank refused the account. `blocked`: a person did.',
  ),
  version: member(count, 'The number of the version; 0 if nothing was ever entered.'),
  details: nullable(details, 'Masked. Null if nothing is entered.'),
  previous: nullable(details, 'What was approved before, masked, or null.'),
  changed: member(v.array(text), 'The members in which they differ, for approvers alone.'),
  entered_by: nullable(text, 'Who entered it.'),
  invited_by: nullable(
    text,
    'Who of the team has invited the member of the affiliate who entered it.',
  ),
  entered_at: nullable(time, 'When.'),
  approvals: member(v.array(text), 'Who approved it.'),
  payable_from: nullable(time, 'When it can be paid. Null until it is approved.'),
  reason: nullable(
    text,
    'Why it is blocked, or what a bank said: until other details are approved.',
  ),
  same_account: member(
    v.array(text),
    'Up to 10 other affiliates with the same account, until an approver says why; for approvers alone.',
  ),
}))

const listedVersion = component('PayeeVersion', () => {
  const { details: _, previous: __, changed: ___, same_account: ____, ...authored } = shown
  const change = v.object({
    field: member(text, 'The member of the details.'),
    before: nullable(text, 'As it was in the version before, masked.'),
    now: nullable(text, 'As it is, masked.'),
  })
  const used = v.object({
    id: member(text, 'Its reference.'),
    batch: member(text, 'The reference of its batch.'),
  })
  return {
    ...authored,
    author: nullable(text, 'The name of the member of the affiliate who entered it.'),
    approved_at: nullable(time, 'When the last of them approved it.'),
    changes: member(
      v.array(change),
      'What differs from the version before. For approvers alone, also what looks the same where it is masked.',
    ),
    transfers: member(v.array(used), 'The transfers that used it.'),
  }
})

/** What an approver decides. Payers have no treatment. */
interface Decision extends payees.Decided {
  readonly version: number
}

/** Whose details operations read and change. */
interface Of<P extends Party> {
  readonly party: P
  readonly path: string
  readonly id: v.GenericSchema<string>
  /** Refuses an id that the account does not have, or cannot have. */
  require(call: Call, id: string): Promise<void> | void
}

/** Returns what the operations of a party share. */
function sharedOf<P extends Party>({ party, id }: Of<P>) {
  const key = payees.PARTY_KEYS[party]
  const params = { [key]: id } as Record<typeof key, v.GenericSchema<string>>
  const name = pascalCase(party)
  const answer = component(name, () => ({ ...params, ...shown }))
  const shows = party === 'payee' ? 'affiliate' : 'account'
  // TypeScript does not see that a member whose name is computed is there.
  const present = (own: string, members: object) => ({ [key]: own, ...members }) as never
  return { key, params, name, shows, answer, present } as const
}

/** What an operation does with details, before it shows them as they are then. */
interface Draft<B extends v.ObjectEntries>
  extends Partial<Pick<AnyOperation, 'method' | 'role' | 'whole'>> {
  readonly description: string
  /** The end of its path; the verb if absent. */
  readonly at?: string
  readonly body?: B
  readonly command?: Partial<CommandWords>
  /** Returns members of the answer that are not as they are usually shown. */
  act(call: Call, id: string, sent: v.InferOutput<v.ObjectSchema<B, undefined>>): Promise<unknown>
}

/** Returns the function that defines operations of a party. */
function definerOf<P extends Party>(it: Of<P>) {
  const { party, path } = it
  const { key, params, name, shows, answer, present } = sharedOf(it)
  return <const B extends v.ObjectEntries>(
    verb: string,
    { description, command, act, method = 'POST', at = verb, ...draft }: Draft<B>,
  ) =>
    operation({
      ...draft,
      topic: 'payouts',
      id: `${verb}${name}`,
      shows,
      method,
      path: method === 'POST' ? `${path}/${at}` : path,
      params,
      words: described(() => ({
        description,
        answer,
        errors: method === 'GET' ? [] : ['conflict', 'same_person'],
        command: { name: `${party}s ${verb}`, ...command },
      })),
      async run(call, input) {
        const id: string = Reflect.get(input, key)
        const members = await act(call, id, input)
        const found = await payees.showDetails(call, party, id)
        return present(id, { ...found, ...(members as object) })
      },
    })
}

function listOfParty<P extends Party>(it: Of<P>) {
  const { party } = it
  const { key, name, shows, answer, present } = sharedOf(it)
  return list({
    topic: 'payouts',
    id: `list${name}s`,
    shows,
    path: `/${party}s`,
    params: {
      state: optional(v.picklist(DETAILS_STATES), said('Their state.', 'entered')),
    },
    words: described(() => ({
      description: `Lists the ${party}s of an account, ordered by id. Details are masked.`,
      answer,
      command: {
        name: `${party}s list`,
        columns: [key, 'state', 'version', 'entered_by', 'entered_at', 'payable_from'],
      },
    })),
    async list(call, { state = null }, page) {
      const found = await listCurrent(call.db, { account: call.account.id, party, state }, page)
      const data = found.data.map(async (row) =>
        present(row.id, await payees.presentDetails(call, row)),
      )
      return { ...found, data: await Promise.all(data) }
    },
  })
}

/** Returns the operations on the details of a party: payees and payers have the same. */
function operationsOf<P extends Party>(it: Of<P>) {
  const { party } = it
  const define = definerOf(it)
  return {
    list: listOfParty(it),
    get: define('get', {
      method: 'GET',
      role: 'viewer',
      description: `Returns a ${party}, with what was approved before. Details are masked.`,
      command: { name: `${party}s show` },
      act: async (call, id) => it.require(call, id),
    }),
    put: define('put', {
      method: 'PUT',
      role: 'manager',
      whole: true,
      body: {
        details: v.strictObject<v.ObjectEntries>(party === 'payee' ? payeeFields : payerFields),
      },
      description: `Enters a ${party}. Another person must approve it, and until then, and until the hold of the account is over, nothing is paid. The same details again change nothing, unless they are blocked or came back, or a manager enters them: whoever does not see details learns nothing of them.`,
      async act(call, id, sent) {
        await it.require(call, id)
        await payees.enterDetails(call, party, [{ id, sent: sent.details }])
      },
    }),
    approve: define('approve', {
      body: { version, ...(party === 'payee' && treatmentFields) },
      description: `Approves a version of a ${party}: only the current one, and never what the caller, or a person whom they invited to the portal, entered. If the account requires two persons, another one must approve it, too, unless a member of the team entered it and it is approved as they did. Of details that came back it says that they may be paid again.${party === 'payee' ? ' It decides how VAT applies: as proposed, or as `treatment` says, also of a version that is approved. The invoices that waited for it are written.' : ''}`,
      act: (call, id, { version, treatment, exempt_reason }: Decision) =>
        payees.approveDetails(call, party, id, version, {
          ...(treatment && { treatment, ...(exempt_reason && { exempt_reason }) }),
        }),
    }),
    block: define('block', {
      body: reason,
      description: `Blocks a ${party}: nothing is paid until details are entered anew and approved.`,
      act: (call, id, sent) => payees.blockDetails(call, party, id, sent.reason),
    }),
    reveal: define('reveal', {
      body: reason,
      description: `Returns a ${party} with its \`details\` in full. The audit log says who read them, and why.`,
      act: async (call, id, sent) => ({
        details: await payees.revealDetails(call, party, id, sent.reason),
      }),
    }),
    erase: define('erase', {
      method: 'DELETE',
      description: `Erases the details of a ${party}. Versions that no payment used are erased at once. The others stay for \`retain_years\` after their last payment; until then nobody can read or use them. What banks have said of them goes, too; codes stay.`,
      command: {
        confirm: { warning: `This erases the ${party} of account {account}.`, name: 'account' },
      },
      act: (call, id) => payees.eraseDetails(call, party, id),
    }),
  }
}

const OF_AFFILIATE: Of<'payee'> = {
  party: 'payee',
  path: '/affiliates/{affiliate_id}/payee',
  id: member(text, said('The id of the affiliate.', 'IB-07')),
  require: requireAffiliate,
}

const listVersions = list({
  topic: 'payouts',
  id: 'listPayeeVersions',
  shows: 'affiliate',
  path: `${OF_AFFILIATE.path}/versions`,
  params: { affiliate_id: OF_AFFILIATE.id },
  words: described(() => ({
    description:
      'Lists the versions of a payee, the latest first: who entered and who approved each, what was changed, masked, and which transfers used it.',
    answer: listedVersion,
    command: {
      name: 'payees versions',
      columns: ['version', 'state', 'entered_by', 'entered_at', 'approved_at', 'payable_from'],
    },
  })),
  async list(call, { affiliate_id: id }, page) {
    await requireAffiliate(call, id)
    const found = await readVersions(call.db, call.account.id, id, page)
    return {
      ...found,
      data: await Promise.all(found.data.map((one) => payees.presentVersion(call, one))),
    }
  },
})

/** The operations on the bank details of affiliates. */
export const PAYEE = {
  versions: listVersions,
  ...operationsOf(OF_AFFILIATE),
  explain: definerOf(OF_AFFILIATE)('explain', {
    at: 'same-account',
    body: reason,
    description:
      'Says why it is right that another affiliate has the same account. Until then, "Needs attention" and previews of batches name it.',
    act: (call, id, sent) => payees.explainSameAccount(call, id, sent.reason),
  }),
}

/** The operations on the bank accounts from which an account pays. */
export const PAYER = operationsOf({
  party: 'payer',
  path: '/payers/{payer}',
  id: member(text, said('The id of the payer: small letters, digits and hyphens.', 'main')),
  require: (_, id) => checkNewId(id),
})

/** Reads a file of payees. Throws `invalid_request`, `validation_failed`. */
function readFile(csv: string) {
  const { rows, fault } = readCsv(csv)
  if (fault)
    throw new ApiError('invalid_request', { detail: `Line ${fault.line}: ${fault.reason}.` })
  const [header = [], ...data] = rows
  const names = header.map((name) => name.trim().toLowerCase().replaceAll(' ', '_'))
  return readItems(data, PAYOUT_LIMITS.payees).map(({ pointer }, row) => {
    const cells = names.map((name, i) => [name, data[row]?.[i]?.trim() ?? ''] as const)
    const { affiliate_id: id = '', ...sent } = nestedDetails(cells)
    return { id: String(id), pointer, sent }
  })
}

export const importPayees = operation({
  topic: 'payouts',
  id: 'importPayees',
  shows: 'account',
  method: 'POST',
  path: '/payees',
  role: 'manager',
  whole: true,
  body: {
    csv: member(
      text,
      said(
        `A header with the names of columns, in any order, and a row for each affiliate: affiliate_id, ${DETAIL_NAMES.join(', ')}. At most ${PAYOUT_LIMITS.payees} rows.`,
        'affiliate_id,name,kind,city,country,method,iban\nIB-07,Ada Lovelace,person,Berlin,DE,sepa,DE89370400440532013000\n',
      ),
    ),
  },
  words: described(() => ({
    description:
      'Enters the payees of a file, all or none. In a pointer, `/0` is the first row below the header. Each waits for an approval, unless an approver enters what is entered or approved already.',
    answer: v.object({ changed: member(count, 'The payees that are new.') }),
    errors: ['conflict', 'invalid_request', 'same_person'],
    command: { name: 'payees import' },
  })),
  async run(call, { csv }) {
    const entered = readFile(csv)
    const ids = entered.map(({ id }) => id)
    const unknown = await unconfiguredAmong(call.db, call.account.id, ids)
    const issues = entered.flatMap(({ id, pointer }, i): Issue[] => {
      if (unknown.has(id))
        return [{ pointer: `${pointer}/affiliate_id`, code: 'unknown_affiliate', value: id }]
      return ids.indexOf(id) < i ? [{ pointer, code: 'duplicate_key' }] : []
    })
    return { changed: await payees.enterDetails(call, 'payee', entered, issues) }
  },
})

/** The operations on payees and payers. */
export const PAYEE_OPERATIONS = [...Object.values(PAYEE), importPayees, ...Object.values(PAYER)]
