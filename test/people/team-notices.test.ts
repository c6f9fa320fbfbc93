import { env } from 'cloudflare:workers'
import { beforeEach, expect, test } from 'vitest'
import { noteAttention } from '../../src/accounts/attention-notice.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import { noticeStatement } from '../../src/platform/directory/outbox.ts'
import { rowsOf } from '../books/book-rows.ts'
import { actorOf, askAs, memberKey } from '../members.ts'
import { json, register } from '../partner.ts'
import { ADA, PATH } from '../payouts/payout-rows.ts'
import { forgetWords } from '../words.ts'
import { linksIn, postOffice } from './outgoing.ts'

beforeEach(async () => {
  await register('forex', { affiliates: ['aff-7'] })
})

const toOf = (mails: { to?: unknown }[]) => mails.map(({ to }) => to).sort()

const invitation = (name: string, role: string) => ({
  ...{ name, email: actorOf(name), role, accounts: 'all', affiliates: 'all', language: 'de' },
})

test('§21.3 a member who is invited gets the link in their language; approvers hear of another approver', async () => {
  const mia = await memberKey({ name: 'Mia', role: 'approver' })
  await memberKey({ name: 'Bob', role: 'approver', accounts: ['acme-forex'] })
  await memberKey({ name: 'Far', role: 'approver', accounts: ['other'] })
  await memberKey({ name: 'Eva', role: 'approver' })
  await memberKey({ name: 'Max', role: 'manager' })
  const office = postOffice()
  const made = await json(askAs(mia, 'members', 'POST', invitation('Ada', 'manager')))
  forgetWords()
  const [mail, ...others] = await office.deliver()
  expect(others).toEqual([])
  expect(mail).toMatchObject({ to: actorOf('ada'), subject: 'Ihre Einladung in die Konsole' })
  expect(linksIn(mail!)[0]).toContain('/console/invitation#')
  expect(mail?.text).toContain('Mia')
  await askAs(mia, `members/${made.id ?? made.member?.id}`, 'PATCH', { role: 'viewer' })
  expect(await office.deliver()).toEqual([])
  await env.DB.exec(`update accounts set approvals = 1`)
  const changed = await askAs(mia, 'members/member-Bob', 'PATCH', { name: 'Robert' })
  expect(changed.status).toBe(200)
  expect(toOf(await office.deliver())).toEqual([actorOf('bob'), actorOf('eva')])
})

test('§21.3 a notice to a role reaches those whose scope has what it is about, but not its author', async () => {
  await memberKey({ name: 'Mia', role: 'approver' })
  await memberKey({ name: 'Max', role: 'manager', accounts: ['acme-forex'] })
  await memberKey({ name: 'Vic', role: 'viewer' })
  await memberKey({ name: 'Far', role: 'manager', accounts: ['other'] })
  await memberKey({ name: 'Own', role: 'manager', affiliates: { own: true } })
  const notice = {
    account: 'acme-forex',
    kind: 'details_entered',
    cause: 'c-1',
    about: 'aff-7',
    recipient: { role: 'manager' },
  } as const
  const except = actorOf('Mia')
  await env.DB.batch([
    noticeStatement(env.DB, notice),
    noticeStatement(env.DB, { ...notice, cause: 'c-2', except }),
  ])
  const mails = await postOffice().deliver()
  expect(toOf(mails)).toEqual([actorOf('max'), actorOf('max'), actorOf('mia')])
})

test('§21.3 who enters bank details is not asked to approve them, but the others are', async () => {
  const mia = await memberKey({ name: 'Mia', role: 'approver' })
  await memberKey({ name: 'Eva', role: 'approver' })
  await askAs(mia, `${PATH}/affiliates/aff-7/payee`, 'PUT', ADA)
  const rows = (await rowsOf('outbox')).filter(({ kind }) => kind === 'details_entered')
  expect(rows).toMatchObject([{ except_actor: actorOf('mia'), affiliate_id: 'aff-7' }])
})

test('§21.3 the daily summary is written only if something is new', async () => {
  const account = await findAccount(env.DB, 'acme-forex')
  const summaries = async () =>
    (await rowsOf('outbox')).filter(({ kind }) => kind === 'attention').length
  await noteAttention(env as Env, account!)
  const before = await summaries()
  await noteAttention(env as Env, account!)
  expect(await summaries()).toBe(before)
  await memberKey({ name: 'Mia', role: 'approver' }).then((key) =>
    askAs(key, `${PATH}/affiliates/aff-7/payee`, 'PUT', ADA),
  )
  await noteAttention(env as Env, account!)
  await noteAttention(env as Env, account!)
  expect(await summaries()).toBe(before + 1)
})
