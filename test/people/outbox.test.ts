import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { hasMail, type Notice, noticeStatement } from '../../src/platform/directory/outbox.ts'

const rows = async () =>
  (await env.DB.prepare('select * from outbox order by recipient').all()).results

test('§21.3 a cause has one notice of a kind for each recipient, however often it is written', async () => {
  const notice: Notice = {
    ...{ account: 'acme', kind: 'question_answered', cause: 'm-1' },
    recipient: { affiliate_id: 'a' },
  }
  const others: Notice[] = [
    { ...notice, recipient: { role: 'manager' }, about: 'a', except: 'ada@example.com' },
    { ...notice, recipient: { address: 'bob@example.com', language: 'de' } },
    { ...notice, account: null, recipient: { member: 'm' } },
  ]
  await env.DB.batch([notice, ...others, notice].map((one) => noticeStatement(env.DB, one)))
  expect(await rows()).toMatchObject([
    { recipient: 'address:bob@example.com', language: 'de', affiliate_id: null },
    { recipient: 'affiliate:a', account: 'acme', sent: '[]', attempts: 0 },
    { recipient: 'member:m', account: '' },
    { recipient: 'role:manager', affiliate_id: 'a', except_actor: 'ada@example.com' },
  ])
})

test('§21.3 e-mail is sent only with a binding and an address to send from', () => {
  const EMAIL = env.EMAIL
  expect([
    hasMail({ EMAIL, MAIL_FROM: 'notices@example.com' }),
    hasMail({ MAIL_FROM: 'notices@example.com' }),
    hasMail({ EMAIL, MAIL_FROM: '' }),
    hasMail({ EMAIL }),
  ]).toEqual([true, false, false, false])
})
