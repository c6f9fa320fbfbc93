import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { brand } from '../brand.ts'
import { askAdmin, issuedPartner, json } from '../partner.ts'

describe('the setting amount_signs', () => {
  test('its account names it, on the administration API and on its own', async () => {
    const acme = await issuedPartner()
    const path = `accounts/${acme.account}`
    const changed = await json(askAdmin(path, 'PATCH', { amount_signs: 'signed' }))
    expect(changed).toMatchObject({ amount_signs: 'signed' })
    expect(await json(askAdmin(path))).toMatchObject({ amount_signs: 'signed' })
    expect(await json(acme.get('account'))).toMatchObject({ amount_signs: 'signed' })
    expect((await askAdmin(path, 'PATCH', { amount_signs: 'negative' })).status).toBe(422)
  })

  test('it cannot change while a period is closed', async () => {
    const { account } = await brand()
    await env.DB.prepare(`insert into closed_periods values (?, 'p', '2026-03', 1)`)
      .bind(account)
      .run()
    const path = `accounts/${account}`
    expect((await askAdmin(path, 'PATCH', { amount_signs: 'signed' })).status).toBe(409)
    expect((await askAdmin(path, 'PATCH', { amount_signs: 'magnitude' })).status).toBe(200)
  })
})
