import { describe, expect, test } from 'vitest'
import { kindOf } from '../../src/affiliates/members.ts'
import { type ViewContext, visible } from '../../src/affiliates/view.ts'
import { DEFAULT_VIEW } from '../../src/platform/auth/affiliate-view.ts'

const sight = (view: Partial<ViewContext['view']> = {}): ViewContext => ({
  view: { ...DEFAULT_VIEW, ...view },
  own: 'IB-07',
  nameOf: (id, kind) => `${kind} of ${id.length}`,
})

describe('what an affiliate sees of an answer', () => {
  test('a member that nobody has decided is left out, however deep', () => {
    const answer = {
      data: [{ id: 'x', undecided: 1, paid: { reference: 'r', phone: '1' } }],
      more: 1,
    }
    expect(visible(answer, sight())).toEqual({ data: [{ id: 'x', paid: { reference: 'r' } }] })
  })

  test('a name of the prototype is no member of the table', () => {
    for (const name of ['constructor', 'toString', '__proto__']) {
      expect(kindOf('', name)).toBeUndefined()
    }
  })

  test('ids of customers are named wherever they stand', () => {
    const answer = {
      customer: 'C-1',
      scope: 'customer:C-1',
      causes: [{ kind: 'record', resource: 'customers', id: 'C-1', customer_id: 'C-1' }],
      trigger: { resource: 'transactions', id: 'T-1', day: '2026-10-01' },
      waits_for: [{ resource: 'trading-activity', id: '2026-10-01|C-1|EURUSD|EUR' }],
    }
    const text = JSON.stringify(visible(answer, sight()))
    expect(text).not.toContain('C-1')
    expect(text).toContain('T-1')
  })

  test('the old and new figures of a cause are hidden like all amounts of customers', () => {
    const causes = [{ kind: 'record', before: { amount_currency: 200 }, after: { status: 'x' } }]
    expect(visible({ causes }, sight())).toEqual({ causes })
    expect(visible({ causes }, sight({ amounts: false }))).toEqual({ causes: [{ kind: 'record' }] })
  })

  test('what is a digest of ids of customers has another name, wherever it stands', () => {
    const [line, adjustment] = [`lin_${'a'.repeat(40)}`, `adj_${'b'.repeat(40)}`]
    const answer = {
      id: adjustment,
      hash: 'c'.repeat(64),
      lines: [{ id: line, rule: 'cpa' }],
      adjustments: [{ id: adjustment, of: { line } }],
      closed: { adjustments: [{ id: adjustment }] },
      data: [{ line_id: line, line, id: 'qst_1' }],
      line: { rule: 'cpa' },
    }
    const seen = visible(answer, sight())
    expect(JSON.stringify(seen)).not.toMatch(/a{40}|b{40}|c{64}/)
    expect(seen).toMatchObject({ line: { rule: 'cpa' }, data: [{ id: 'qst_1' }] })
    // Otherwise whoever writes a guessed id there would be told under which name they see it.
    const written = { messages: [{ text: line }], sub1: line, name: line }
    expect(visible(written, sight())).toEqual(written)
  })

  test('lines stand in the order of what is seen, unless ids of customers are shown', () => {
    const line = (customer: string, rule = 'cpa') => ({
      ...{ id: `lin_${customer.padEnd(40, '0')}`, rule, version: 1, scope: `customer:${customer}` },
    })
    const lines = [line('zzz', 'share'), line('aaa'), line('bb'), line('c')]
    const nameOf = (id: string) => `x${id.replace(/\W/g, '').length}`
    const scopes = (view: Partial<ViewContext['view']>) => {
      const named = view.customer_ids === 'plain' ? (id: string) => id : nameOf
      const seen = visible({ lines }, { ...sight(view), nameOf: named }) as {
        lines: { scope: string }[]
      }
      return seen.lines.map(({ scope }) => scope.replace('customer:', ''))
    }
    expect(scopes({ customer_ids: 'pseudonym' })).toEqual(['x3', 'x1', 'x2', 'x3'])
    expect(scopes({ customer_ids: 'plain' })).toEqual(['zzz', 'aaa', 'bb', 'c'])
  })

  test('the affiliate above is never named, and those below only if they are shown', () => {
    const answer = {
      scope: 'affiliate:IB-08',
      steps: [
        { step: 'sources', affiliate_id: 'IB-08' },
        { step: 'funded', affiliate_id: 'IB-01' },
        { step: 'amount', affiliate_id: 'IB-07' },
      ],
    }
    expect(JSON.stringify(visible(answer, sight()))).not.toContain('IB-01')
    expect(JSON.stringify(visible(answer, sight()))).toContain('IB-08')
    const hidden = JSON.stringify(visible(answer, sight({ sub_affiliates: 'none' })))
    expect(hidden).not.toContain('IB-08')
    expect(hidden).toContain('IB-07')
  })
})
