import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { digest, newSecret } from '../../src/platform/auth/secret.ts'
import { lesserOf, listMembers, ROLES, type Scope } from '../../src/platform/directory/members.ts'
import { KEY_WORLD, signedIn } from '../console/browser.ts'
import { at } from '../days.ts'
import { actorOf, askAs, memberKey } from '../members.ts'
import { askAdmin, json, register } from '../partner.ts'

// §21.1: who invites, changes and removes whom.

const ACCOUNT = 'acme-forex'
const ROOT = env.ADMIN_KEY

beforeEach(() => register('forex'))

const approver = (name: string, accounts: Scope['accounts'] = 'all') =>
  memberKey({ name, role: 'approver', accounts })
const idOf = (name: string) => `member-${name}`
const setApprovals = (approvals: number, account = ACCOUNT) =>
  env.DB.prepare('update accounts set approvals = ? where id = ?').bind(approvals, account).run()

const invite = (key: string, name: string, more: object = {}) =>
  askAs(key, 'members', 'POST', {
    ...{ name, email: actorOf(name), role: 'manager', accounts: 'all', affiliates: 'all' },
    ...{ language: 'en', ...more },
  })
const change = (key: string, id: string, body: object) => askAs(key, `members/${id}`, 'PATCH', body)
const remove = (key: string, id: string) => askAs(key, `members/${id}`, 'DELETE')
const lose = (key: string, id: string) => askAs(key, `members/${id}/invitations`, 'POST')
const agree = (key: string, id: string, body: object = {}) =>
  askAs(key, `members/${id}/approve`, 'POST', body)
const codeOf = async (sent: Promise<Response>) => {
  const response = await sent
  return response.ok ? response.status : ((await json(response)).code as string)
}
const find = async (name: string) =>
  (await listMembers(env.DB)).find(({ email }) => email === actorOf(name))

/** Stores a passkey and a key of somebody who was invited, as if they had come. Returns the key. */
async function join(id: string): Promise<string> {
  const key = newSecret('tmk', 'live')
  const now = new Date().toISOString()
  await env.DB.batch([
    env.DB.prepare(
      'update members set joined_at = coalesce(joined_at, ?), version = version + 1 where id = ?',
    ).bind(now, id),
    env.DB.prepare(
      `insert into member_passkeys values (?, ?, 'AA', -7, 0, '[]', 0, 0, 'Laptop', ?, ?)`,
    ).bind(crypto.randomUUID(), id, now, now),
    env.DB.prepare(
      `insert into member_keys values (?, ?, ?, 'Script', 'approver', '"all"', '"all"', ?)`,
    ).bind(await digest(key), crypto.randomUUID(), id, now),
  ])
  return key
}

test('the root key invites the first member: the link is in the answer alone, and works for 72 hours', async () => {
  const made = await json(invite(ROOT, 'Ada', { role: 'approver' }))
  expect(made).toMatchObject({ created_by: 'root-key', joined_at: null, waiting: null })
  const secret = /^https:\/\/api\.example\/console\/invitation#(\w{43})$/.exec(made.invitation_url)
  const stored = await env.DB.prepare('select * from member_invitations').first()
  expect(stored).toMatchObject({
    digest: await digest(secret![1]!),
    member: made.id,
    used_at: null,
  })
  expect(Number(stored!.ends_at) - Date.parse(String(stored!.created_at))).toBe(72 * 3_600_000)
  expect((await json(askAdmin('members'))).data).toMatchObject([
    { email: 'ada@team.example', invited_until: new Date(Number(stored!.ends_at)).toISOString() },
  ])
  at(new Date(Number(stored!.ends_at)).toISOString())
  expect(await json(askAdmin(`members/${made.id}`))).toMatchObject({ invited_until: null })
})

test.each([
  [{ email: 'ADA@Team.Example' }, 'already_exists'],
  [{ email: 'аda@team.example' }, 'validation_failed'],
  [{ email: 'ada@team.example\r\nBcc: eve@evil.example' }, 'validation_failed'],
  [{ email: `${'a'.repeat(241)}@team.example` }, 201],
  [{ email: `${'a'.repeat(242)}@team.example` }, 'validation_failed'],
  [{ name: '<script>alert(1)</script>', email: 'eve@team.example' }, 201],
  [{ name: 'Ada\u202e', email: 'eve@team.example' }, 'validation_failed'],
  [{ role: 'owner' }, 'validation_failed'],
  [{ accounts: [] }, 'validation_failed'],
  [{ accounts: ['nobody'] }, 'validation_failed'],
  [{ affiliates: { own: false } }, 'validation_failed'],
  [{ email: 'eve@team.example', affiliates: { own: true } }, 201],
  [{ role: 'approver', affiliates: { own: true } }, 'validation_failed'],
  [{ language: 'tlh' }, 'validation_failed'],
])('an invitation with %j is answered %s', async (more, expected) => {
  await approver('ada')
  expect(await codeOf(invite(ROOT, 'Ada', more))).toBe(expected)
})

describe('where an account asks for two persons and has two approvers', () => {
  const names = ['ada', 'bob', 'eva'] as const
  let ada: string
  let bob: string
  let eva: string

  beforeEach(async () => {
    ;[ada, bob, eva] = (await Promise.all(names.map((name) => approver(name)))) as [
      ...[string, string, string],
    ]
    await memberKey({ name: 'mia', role: 'manager', accounts: [ACCOUNT] })
    await setApprovals(2)
  })

  test.each([
    ['a new approver', () => invite(ada, 'zoe', { role: 'approver' }), 'zoe'],
    ['a higher role', () => change(ada, idOf('mia'), { role: 'approver' }), 'mia'],
    ['a wider scope', () => change(ada, idOf('mia'), { accounts: 'all' }), 'mia'],
    ['what an approver has lost', () => lose(ada, idOf('eva')), 'eva'],
  ])('%s waits until another approver agrees, and gives no link before', async (_, ask, name) => {
    const asked = await json(ask())
    expect(asked).toMatchObject({ invitation_url: null, waiting: { by: actorOf('ada') } })
    const { id, waiting } = asked
    const before = await find(name)
    expect(await codeOf(agree(ada, id))).toBe('same_person')
    expect(await json(agree(ROOT, id))).toMatchObject({
      ...{ code: 'same_person', detail: expect.stringContaining('bob@team.example') },
    })
    expect(await codeOf(agree(bob, id, { request: 'another' }))).toBe('conflict')
    expect(await find(name)).toEqual(before)
    const agreed = await json(agree(bob, id, { request: waiting.id }))
    expect(agreed).toMatchObject({ waiting: null, ...waiting.change })
    expect(agreed.invitation_url === null).toBe(waiting.kind === 'change')
    expect(await codeOf(agree(eva, id))).toBe(name === 'eva' ? 'invalid_admin' : 'conflict')
    const { data } = await json(askAdmin('audit-log'))
    expect(data[0]).toMatchObject({
      ...{ actor: actorOf('bob'), action: 'member.agree' },
      details: { member: id, asked_by: actorOf('ada') },
    })
  })

  test('whoever asked for more for somebody who has not come has no link that works', async () => {
    const { id, invitation_url } = await json(invite(ada, 'zoe', { role: 'viewer' }))
    expect(invitation_url).toMatch(/#\w+$/)
    const { waiting } = await json(change(ada, id, { role: 'approver' }))
    const agreed = await json(agree(bob, id, { request: waiting.id }))
    expect(agreed.invitation_url).toMatch(/#\w+$/)
    const open = 'select digest from member_invitations where member = ? and ends_at > ?'
    const { results } = await env.DB.prepare(open).bind(id, Date.now()).all()
    expect(results).toEqual([{ digest: await digest(agreed.invitation_url.split('#')[1]) }])
  })

  test('one approver invites a manager, lowers anybody and removes anybody alone', async () => {
    expect((await invite(ada, 'zoe')).status).toBe(201)
    expect((await change(ada, idOf('eva'), { role: 'viewer' })).status).toBe(200)
    expect((await lose(ada, idOf('mia'))).status).toBe(201)
    expect((await remove(ada, idOf('eva'))).status).toBe(204)
  })

  test('nobody leaves an account with fewer approvers than it asks for', async () => {
    expect((await remove(ada, idOf('eva'))).status).toBe(204)
    for (const key of [ada, ROOT]) {
      expect(await codeOf(remove(key, idOf('bob')))).toBe('last_approver')
      expect(await codeOf(change(key, idOf('bob'), { role: 'manager' }))).toBe('last_approver')
    }
    // Who has lost their passkeys counts as one who may not be taken away, and not as one who is left.
    await setApprovals(1)
    expect((await lose(ada, idOf('bob'))).status).toBe(201)
    await setApprovals(2)
    expect(await codeOf(remove(ROOT, idOf('ada')))).toBe('last_approver')
    expect(await codeOf(remove(ada, idOf('bob')))).toBe('last_approver')
  })

  test('the root key asks for nothing that takes two, and agrees where nobody else is left', async () => {
    expect(await codeOf(invite(ROOT, 'zoe', { role: 'approver' }))).toBe('same_person')
    expect(await codeOf(lose(ROOT, idOf('bob')))).toBe('same_person')
    expect((await remove(ROOT, idOf('eva'))).status).toBe(204)
    expect((await lose(ada, idOf('bob'))).status).toBe(202)
    expect((await agree(ROOT, idOf('bob'))).status).toBe(200)
    const { id } = await json(invite(ada, 'zoe', { role: 'approver' }))
    expect((await agree(ROOT, id)).status).toBe(200)
  })

  test('whoever is removed, or is no approver any more, has asked for nothing', async () => {
    await invite(ada, 'zoe', { role: 'approver' })
    const { id } = (await find('zoe'))!
    await change(bob, idOf('ada'), { role: 'manager' })
    expect(await codeOf(agree(eva, id))).toBe('conflict')
    await approver('dan')
    await remove(bob, idOf('ada'))
    expect(await codeOf(agree(eva, id))).toBe('conflict')
    expect((await lose(eva, id)).status).toBe(202)
    expect((await agree(bob, id)).status).toBe(200)
  })

  test('two who remove each other at once leave two approvers', async () => {
    const done = await Promise.all([
      remove(ada, idOf('bob')),
      remove(bob, idOf('ada')),
      change(eva, idOf('ada'), { role: 'viewer' }),
    ])
    expect(done.filter(({ ok }) => ok)).toHaveLength(1)
    const left = (await listMembers(env.DB)).filter(({ role }) => role === 'approver')
    expect(left).toHaveLength(2)
  })
})

test('whom the root key has invited needs the attention of their accounts for a week', async () => {
  await register('forex', { account: 'other' })
  const now = Date.now()
  const ada = await approver('ada')
  await invite(ROOT, 'mia', { accounts: [ACCOUNT] })
  await invite(ROOT, 'bob')
  await invite(ada, 'zoe')
  const told = async (account: string) => {
    const { data } = await json(askAdmin(`accounts/${account}/attention`))
    const found = data.find(({ code }: { code: string }) => code === 'root_invitations')
    return found?.names ?? []
  }
  expect(await told(ACCOUNT)).toEqual([actorOf('bob'), actorOf('mia')])
  expect(await told('other')).toEqual([actorOf('bob')])
  at(new Date(now + 7 * 86_400_000 + 60_000).toISOString())
  expect(await told(ACCOUNT)).toEqual([])
})

test('nobody changes themselves', async () => {
  const ada = await approver('ada')
  const id = idOf('ada')
  for (const sent of [
    change(ada, id, { name: 'X' }),
    remove(ada, id),
    lose(ada, id),
    agree(ada, id),
  ]) {
    expect(await codeOf(sent)).toBe('same_person')
  }
})

test('an approver acts within the accounts that they have, and learns of no other', async () => {
  await register('forex', { account: 'other' })
  const ada = await approver('ada', [ACCOUNT])
  await approver('bob')
  await memberKey({ name: 'mia', role: 'manager', accounts: [ACCOUNT, 'other'] })
  await memberKey({ name: 'oli', role: 'manager', accounts: ['other'] })
  const { data } = await json(askAs(ada, 'members'))
  expect(data.map((one: { name: string; accounts: unknown }) => [one.name, one.accounts])).toEqual([
    ['ada', [ACCOUNT]],
    ['bob', 'all'],
    ['mia', [ACCOUNT]],
  ])
  for (const accounts of ['all', ['other'], [ACCOUNT, 'other']]) {
    const code = accounts === 'all' ? 'insufficient_role' : 'validation_failed'
    expect(await codeOf(invite(ada, 'zoe', { accounts }))).toBe(code)
  }
  expect(await codeOf(remove(ada, idOf('oli')))).toBe('not_found')
  expect(await codeOf(remove(ada, idOf('mia')))).toBe('insufficient_role')
  expect(await codeOf(change(ada, idOf('bob'), { accounts: [ACCOUNT] }))).toBe('insufficient_role')
  expect((await invite(ada, 'zoe', { accounts: [ACCOUNT] })).status).toBe(201)
})

test('whoever is removed or has lost their passkeys can do nothing more, by key, session or link', async () => {
  await approver('ada')
  for (const [name, end] of [
    ['bob', remove],
    ['mia', lose],
  ] as const) {
    const { id } = await json(invite(ROOT, name))
    const key = await join(id)
    const browser = await signedIn(KEY_WORLD, undefined, key)
    expect([(await browser.get('/console')).status, (await askAs(key, 'me')).status]).toEqual([
      ...[200, 200],
    ])
    await end(ROOT, id)
    expect([(await browser.get('/console')).status, (await askAs(key, 'me')).status]).toEqual([
      ...[303, 401],
    ])
    const links = await env.DB.prepare(
      'select count(*) as n from member_invitations where member = ? and ends_at > ?',
    )
      .bind(id, Date.now())
      .first('n')
    expect(links).toBe(name === 'bob' ? 0 : 1)
  }
})

describe('a key of a member', () => {
  const make = (key: string, body: object = {}) =>
    askAs(key, 'me/keys', 'POST', { name: 'Script', ...body })

  test('is one of five at most, also at once, and is ended by its member alone', async () => {
    const mia = await memberKey({ name: 'mia', role: 'viewer' })
    const made = await Promise.all(Array.from({ length: 7 }, () => make(mia)))
    expect(made.filter(({ ok }) => ok)).toHaveLength(4)
    const { data } = await json(askAs(mia, 'me/keys'))
    expect(data).toHaveLength(5)
    const bob = await approver('bob')
    expect((await askAs(bob, `me/keys/${data[4].id}`, 'DELETE')).status).toBe(404)
    expect((await askAs(mia, `me/keys/${data[4].id}`, 'DELETE')).status).toBe(204)
    expect(await codeOf(make(mia))).toBe(201)
    expect(await codeOf(make(ROOT))).toBe('conflict')
  })

  test('may what both it and its member may, at each call', async () => {
    const mia = await memberKey({ name: 'mia', role: 'manager', accounts: [ACCOUNT] })
    const { member_key } = await json(make(mia, { accounts: 'all', role: 'approver' }))
    const { member_key: own } = await json(make(mia, { affiliates: { own: true }, role: 'viewer' }))
    const scopeOf = async (key: string) => {
      const { role, accounts, affiliates } = await json(askAs(key, 'me'))
      return { role, accounts, affiliates }
    }
    const all = { role: 'manager', accounts: [ACCOUNT], affiliates: 'all' }
    expect(await scopeOf(member_key)).toEqual(all)
    expect(await scopeOf(own)).toEqual({ ...all, role: 'viewer', affiliates: { own: true } })
    const { member_key: made } = await json(make(own, { role: 'manager', affiliates: 'all' }))
    expect(await scopeOf(made)).toEqual(await scopeOf(own))
    // It neither lists nor ends a key that may do more.
    const keysOf = async (key: string) => (await json(askAs(key, 'me/keys'))).data
    const [wide] = await keysOf(mia)
    expect([(await keysOf(mia)).length, (await keysOf(own)).length]).toEqual([4, 2])
    expect((await askAs(own, `me/keys/${wide.id}`, 'DELETE')).status).toBe(404)
    await change(ROOT, idOf('mia'), { role: 'viewer' })
    expect(await scopeOf(member_key)).toEqual({ ...all, role: 'viewer' })
  })
})

test('§21 law 5: whatever happens, nobody gains more than who gave it held, two are asked, and two stay', async () => {
  await register('forex', { account: 'one' })
  const accounts = [['one'], [ACCOUNT], [ACCOUNT, 'one'], 'all'] as const
  const step = fc.record({
    does: fc.constantFrom('invite', 'change', 'change', 'remove', 'lose', 'agree', 'agree', 'join'),
    who: fc.nat(5),
    whom: fc.nat(5),
    role: fc.constantFrom(...ROLES, 'approver' as const),
    accounts: fc.constantFrom(...accounts),
  })
  type Step = typeof step extends fc.Arbitrary<infer S> ? S : never
  let refused = 0
  let gained = 0

  const play = async (steps: readonly Step[]) => {
    await env.DB.exec('delete from member_keys; delete from member_passkeys;')
    await env.DB.exec('delete from member_invitations; delete from members;')
    await setApprovals(2)
    await setApprovals(1, 'one')
    const keys = new Map<string, string>([
      [idOf('ada'), await approver('ada')],
      [idOf('bob'), await approver('bob')],
      [idOf('cy'), await memberKey({ name: 'cy', role: 'manager', accounts: [ACCOUNT] })],
    ])
    let invited = 0
    for (const { does, who, whom, role, accounts } of steps) {
      const before = await listMembers(env.DB)
      const actor = before[who]
      const key = actor ? (keys.get(actor.id) ?? ROOT) : ROOT
      const about = before[whom] ?? before[0]!
      const DOES = {
        invite: () => invite(key, `new${invited++}`, { role, accounts }),
        change: () => change(key, about.id, { role, accounts }),
        remove: () => remove(key, about.id),
        lose: () => lose(key, about.id),
        agree: () => agree(key, (before.find(({ waiting }) => waiting) ?? about).id),
        join: async () => {
          const isOpen = (about.link_ends_at ?? 0) > Date.now()
          if (isOpen && about.passkeys === 0) keys.set(about.id, await join(about.id))
          return null
        },
      }
      const caller = key === ROOT ? null : await json(askAs(key, 'me'))
      const response = await DOES[does]()
      if (response && !response.ok) refused += 1
      const after = await listMembers(env.DB)
      const joined = (all: typeof after) =>
        all.filter(
          (one) =>
            one.role === 'approver' &&
            one.joined_at &&
            one.waiting?.kind !== 'invitation' &&
            (one.accounts === 'all' || one.accounts.includes(ACCOUNT)),
        ).length
      // Both were there from the beginning.
      expect(joined(after)).toBeGreaterThanOrEqual(2)
      for (const one of after.filter(({ waiting }) => waiting?.kind !== 'invitation')) {
        const old = before.find(({ id }) => id === one.id)
        const was = old?.waiting?.kind === 'invitation' ? undefined : old
        const isWider =
          !was || JSON.stringify(lesserOf(was, one)) !== JSON.stringify(lesserOf(one, one))
        if (!isWider) continue
        gained += 1
        if (caller) expect(lesserOf(caller, one)).toEqual(lesserOf(one, one))
        const isOfTwo = one.accounts === 'all' || one.accounts.includes(ACCOUNT)
        if (isOfTwo && (was || one.role === 'approver')) {
          expect(does).toBe('agree')
          expect([caller?.email, one.email]).not.toContain(old?.waiting?.by)
          expect(caller?.email).not.toBe(one.email)
        }
      }
      for (const { id } of before.filter((one) => !after.some(({ id }) => id === one.id))) {
        const ended = keys.get(id)
        if (ended) expect((await askAs(ended, 'me')).status).toBe(401)
      }
    }
  }
  const histories = fc.array(step, { minLength: 8, maxLength: 20 })
  await fc.assert(fc.asyncProperty(histories, play), { numRuns: 25, seed: env.SEED })
  expect([refused, gained].map((count) => count > 20)).toEqual([true, true])
})
