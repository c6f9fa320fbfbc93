import { env } from 'cloudflare:workers'
import { beforeEach, expect, test } from 'vitest'
import { digest } from '../../src/platform/auth/secret.ts'
import { DAY_MS } from '../../src/platform/durations.ts'
import { signedIn } from '../console/browser.ts'
import { askAdmin, json, issuedPartner as partner } from '../partner.ts'

// Who may sign in for an affiliate: its profile and state, invitations and members.

const AT = '/console/accounts/acme'

beforeEach(async () => {
  await partner('forex', { account: 'acme', affiliates: ['IB-07', 'IB-08'] })
})

const put = (...body: object[]) => askAdmin('accounts/acme/affiliates', 'PUT', body)
const read = async (id: string) =>
  (await json(askAdmin(`accounts/acme/affiliates?affiliate_id=${id}`))).data[0]
const auditLog = () => json(askAdmin('audit-log?account=acme'))

const PROFILE = {
  display_name: 'Forex Friends',
  contact_email: 'ada@friends.example',
  language: 'de',
  note: 'Call in the morning.',
  status: 'suspended',
}

test('a profile has language, note and status, and keeps what a request leaves out', async () => {
  expect(await read('IB-07')).toMatchObject({ language: null, note: null, status: 'active' })
  expect(await json(put({ affiliate_id: 'IB-07', ...PROFILE }))).toEqual({
    received: 1,
    changed: 1,
  })
  expect(await read('IB-07')).toEqual({
    affiliate_id: 'IB-07',
    parent: null,
    manager: null,
    ...PROFILE,
  })

  await put({ affiliate_id: 'IB-07', note: null }, { affiliate_id: 'IB-09', language: 'pt' })
  expect(await read('IB-07')).toMatchObject({ ...PROFILE, note: null })
  expect(await read('IB-09')).toMatchObject({ language: 'pt', status: 'active' })
  expect(await json(put({ affiliate_id: 'IB-07', status: 'suspended' }))).toMatchObject({
    changed: 0,
  })
})

test('the audit log says what of a profile was changed, without personal values', async () => {
  await put({ affiliate_id: 'IB-07', ...PROFILE })
  const text = JSON.stringify(await auditLog())
  const [{ changes }] = (await json(askAdmin('audit-log?account=acme'))).data
  expect(changes.map(({ field, before, after }: never) => [field, before, after])).toEqual([
    ['display_name', null, '…'],
    ['contact_email', null, '…'],
    ['language', null, 'de'],
    ['note', null, '…'],
    ['status', 'active', 'suspended'],
  ])
  expect(text).not.toMatch(/Friends|friends|morning/)
})

test('ids with white space around them, `*` and other values are refused', async () => {
  const refused = async (body: object) => {
    const { errors } = await json(put({ affiliate_id: 'IB-07', ...body }))
    return errors.map(({ pointer, code }: Record<string, string>) => `${pointer} ${code}`)
  }
  expect(await refused({ affiliate_id: ' IB-07' })).toEqual(['/0/affiliate_id pattern'])
  expect(await refused({ affiliate_id: 'IB-07\t' })).toEqual(['/0/affiliate_id pattern'])
  expect(await refused({ affiliate_id: '*' })).toEqual(['/0/affiliate_id pattern'])
  expect(await refused({ language: 'it' })).toEqual(['/0/language enum'])
  expect(await refused({ status: null })).toEqual(['/0/status type'])
  expect(await refused({ status: 'closed' })).toEqual(['/0/status enum'])
  expect(await refused({ note: 'x'.repeat(501) })).toEqual(['/0/note length'])
})

test('the console suspends and reinstates an affiliate, and says so on page and list', async () => {
  const browser = await signedIn()
  const page = async (path: string) => (await browser.get(`${AT}${path}`)).text()
  const change = async (path: string, fields: Record<string, string>) =>
    browser.post(`${AT}${path}`, { csrf: await browser.csrf(`${AT}${path}`), ...fields })

  expect(await page('/affiliates/IB-07')).toContain('Suspend the affiliate')
  expect((await change('/affiliates/IB-07', { change: 'suspend' })).status).toBe(303)
  expect(await page('/affiliates/IB-07')).toMatch(/is suspended: its members were signed out/)
  expect((await page('/affiliates')).match(/>suspended</g)).toHaveLength(1)

  expect((await change('/affiliates/IB-07', { change: 'reinstate' })).status).toBe(303)
  expect(await page('/affiliates')).not.toContain('>suspended<')
  expect(await read('IB-07')).toMatchObject({ status: 'active' })
  const log = (await page('/audit-log')).replaceAll(/<[^>]+>/g, ' ')
  expect(log.match(/→\s+(?:suspended|active)/g)).toHaveLength(2)
})

const at = (path: string) => `accounts/acme/affiliates/${path}`
const invite = (id = 'IB-07') => askAdmin(at(`${id}/invitations`), 'POST')
const invitations = async (id = 'IB-07') => (await json(askAdmin(at(`${id}/invitations`)))).data

test('an invitation is a link with a secret, of which only a digest is stored', async () => {
  const made = await invite()
  const { id, invitation_url, status, ends_at, created_at } = await json(made)
  expect([made.status, status]).toEqual([201, 'open'])
  expect(Date.parse(ends_at) - Date.parse(created_at)).toBe(72 * 3_600_000)
  const [, secret = ''] =
    /^https:\/\/api\.example\/portal\/acme\/invitation#([0-9A-Za-z]{43})$/.exec(invitation_url) ??
    []
  const { results } = await env.DB.prepare('select * from affiliate_invitations').all()
  expect(results).toMatchObject([{ id, affiliate_id: 'IB-07', digest: await digest(secret) }])
  expect(JSON.stringify([results, await auditLog()])).not.toContain(secret)
  expect(JSON.stringify(await invitations())).not.toContain('invitation_url')
})

test('an invitation is ended once, and is of one affiliate', async () => {
  const { id } = await json(invite())
  expect((await askAdmin(at(`IB-08/invitations/${id}`), 'DELETE')).status).toBe(404)
  expect((await askAdmin(at(`IB-07/invitations/${id}`), 'DELETE')).status).toBe(204)
  expect((await askAdmin(at(`IB-07/invitations/${id}`), 'DELETE')).status).toBe(204)
  expect(await invitations()).toMatchObject([{ id, status: 'ended', used_at: null }])
  const ended = (await auditLog()).data.filter(
    ({ action }: { action: string }) => action === 'affiliate-invitation.end',
  )
  expect(ended).toHaveLength(1)
  expect((await invite('IB-99')).status).toBe(404)
})

test('an invitation is listed until 30 days after its end', async () => {
  const { id } = await json(invite())
  const listedAfter = async (days: number) => {
    const end = env.DB.prepare('update affiliate_invitations set ends_at = ? where id = ?')
    await end.bind(Date.now() - days * DAY_MS, id).run()
    await invite()
    return (await invitations()).some((one: { id: string }) => one.id === id)
  }
  expect([await listedAfter(29), await listedAfter(31)]).toEqual([true, false])
})

test('a member is listed, and removed with their passkeys', async () => {
  await env.DB.batch([
    env.DB.prepare(`insert into affiliate_members (account, affiliate_id, id, name, created_at, last_seen_at, invited_by)
      values ('acme', 'IB-07', 'mem-1', 'Eve', '2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z', 'eve')`),
    env.DB.prepare(`insert into affiliate_passkeys
      values ('acme', 'cred', 'IB-07', 'mem-1', 'key', -7, 0, '[]', 0, 0, 'Phone', '2026', '2026')`),
  ])
  expect((await json(askAdmin(at('IB-07/members')))).data).toEqual([
    {
      ...{
        id: 'mem-1',
        name: 'Eve',
        email: null,
        passkeys: 1,
        created_at: '2026-01-01T00:00:00.000Z',
      },
      last_seen_at: '2026-01-02T00:00:00.000Z',
    },
  ])
  expect((await json(askAdmin(at('IB-08/members')))).data).toEqual([])

  expect((await askAdmin(at('IB-08/members/mem-1'), 'DELETE')).status).toBe(404)
  expect((await askAdmin(at('IB-07/members/mem-1'), 'DELETE')).status).toBe(204)
  const { results } = await env.DB.prepare('select * from affiliate_passkeys').all()
  expect(results).toEqual([])
})

test('the console shows a link once, lists who is invited, and ends invitations', async () => {
  const browser = await signedIn()
  const path = `${AT}/affiliates/IB-07`
  const change = async (fields: Record<string, string>) =>
    browser.post(path, { csrf: await browser.csrf(path), ...fields })
  expect((await change({ change: 'invite' })).status).toBe(303)
  const invited = await (await browser.get(path)).text()
  expect(invited).toMatch(/data-copy="Copy"[^>]*>https:\/\/api\.example\/portal\/acme\//)

  const page = await (await browser.get(path)).text()
  expect(page).toContain('End an invitation')
  expect(page).not.toContain('/invitation#')
  const [{ id }] = await invitations()
  expect((await change({ change: 'uninvite', invitation_id: id })).status).toBe(303)
  expect(await (await browser.get(path)).text()).not.toContain('End an invitation')
})
