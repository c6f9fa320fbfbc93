import { digest } from '../../platform/auth/secret.ts'
import type { Connection } from '../../platform/db/database.ts'
import { type FoundPage, type Page, paginate } from '../../platform/db/paginate.ts'
import { all, first } from '../../platform/db/query.ts'
import type { outbox } from '../../platform/db/schema.ts'
import { bindStatement, compileStatement, writeBatch } from '../../platform/db/statement.ts'
import type { Scope } from '../../platform/directory/members.ts'
import type { StoredNotice } from '../../platform/directory/outbox.ts'
import type { Language } from '../../platform/languages.ts'

/** Somebody to whom a notice is sent. */
export interface Person {
  readonly address: string
  readonly language: Language
}

const OF_AFFILIATE = compileStatement(`
  select ifnull(m.email, a.contact_email) as address, ifnull(a.language, 'en') as language from affiliates a
  left join affiliate_members m on m.account = :account and m.affiliate_id = a.affiliate_id and m.email is not null
  where a.account = :account and a.affiliate_id = :affiliate_id and address is not null
  group by lower(address)`)

/** Returns the persons of an affiliate with an address; without one, the contact address. */
export const personsOfAffiliate = (db: Connection, account: string, affiliate_id: string) =>
  all<Person>(db, OF_AFFILIATE, { account, affiliate_id })

const ACCOUNTS_OF = compileStatement('select accounts from members where id = :id')

/** Returns the accounts of a member of the team, also of one who was removed. */
export async function accountsOfMember(directory: D1Database, id: string) {
  const row = await first<{ accounts: string }>(directory, ACCOUNTS_OF, { id })
  return row ? (JSON.parse(row.accounts) as Scope['accounts']) : []
}

/** Returns the account for which the persons of a notice stop their e-mails; '' for the team. */
export const stoppedFor = ({ account, recipient }: StoredNotice) =>
  /^(?:role|member):/.test(recipient) ? '' : account

/** Why nothing is sent to an address. */
export type StopReason = 'off' | 'bounced'

/** Returns the digest by which an address is stopped. */
export const addressDigest = (address: string) => digest(`notices to ${address.toLowerCase()}`)

const READ_STOPS = compileStatement(`
  select address, reason from mail_stops
  where address in (select value from json_each(:addresses)) and (account = :account or reason = 'bounced')
  order by reason desc`)

/** Returns why nothing of an account is sent to addresses, by their digests: `bounced` before `off`. */
export async function readStops(
  directory: D1Database,
  account: string,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, StopReason>> {
  const values = { account, addresses: JSON.stringify(addresses) }
  const rows = await all<{ address: string; reason: StopReason }>(directory, READ_STOPS, values)
  return new Map(rows.map(({ address, reason }) => [address, reason]))
}

const STOP = compileStatement(`
  insert into mail_stops (account, address, reason, at) values (:account, :address, :reason, :now)
  on conflict do nothing`)

/** Stops notices to an address, by its digest. One that bounced has no account. */
export const stopMail = (
  directory: D1Database,
  stop: { readonly account: string; readonly address: string; readonly reason: StopReason },
) => writeBatch(directory, [bindStatement(directory, STOP, { ...stop, now: Date.now() })])

const RESUME = compileStatement(`
  delete from mail_stops where address = :address and (account = :account or reason = 'bounced')`)

/** Has notices of an account sent to an address again, also if it bounced. */
export const resumeMail = (directory: D1Database, account: string, address: string) =>
  writeBatch(directory, [bindStatement(directory, RESUME, { account, address })])

const FIND = compileStatement('select * from outbox where account = :account and id = :id')

/** Returns a notice; null if there is none. */
export const findNotice = (db: Connection, account: string, id: string) =>
  first<StoredNotice>(db, FIND, { account, id })

const USE = compileStatement(`
  update outbox set used_at = :now where account = :account and id = :id and used_at is null`)

/** The statement that uses the link of a notice, and its values: it must change something. */
export const useLink = ({ account, id }: StoredNotice) =>
  [USE, { account, id, now: Date.now() }] as const

const LATEST = compileStatement('select * from outbox order by at desc limit 50')

/** Returns the latest notices of a database. */
export const latestNotices = (db: Connection) => all<StoredNotice>(db, LATEST)

/** Which notices are listed. */
export type NoticeFilter = Partial<Pick<StoredNotice, 'recipient' | 'kind'>>

/** Reads one page of the notices of an account, the latest first. */
export const listNotices = (
  db: Parameters<typeof paginate>[0],
  account: string,
  narrowed: NoticeFilter,
  page: Page,
): Promise<FoundPage<StoredNotice>> => {
  const conditions = Object.keys(narrowed).map((name) => ` and ${name} = :${name}`)
  return paginate<StoredNotice & typeof outbox.$inferSelect>(
    db,
    {
      columns: ['*'],
      from: `outbox ${narrowed.recipient ? 'indexed by outbox_recipient' : ''} where account = :account${conditions.join('')}`,
      key: ['id'],
      descending: true,
      values: { account, ...narrowed },
    },
    page,
  )
}
