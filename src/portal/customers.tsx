import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { Data, type List, Table } from '../console/parts/data.tsx'
import { respond } from '../console/respond.ts'
import { dayText, MemberPage, NextPage } from './member-page.tsx'
import { AskLink } from './questions.tsx'
import type { MemberVisit } from './visit.ts'
import { fill } from './words.ts'

interface Customer {
  readonly customer: string | null
  readonly signup_day: string
  readonly country_code?: string | null
  readonly states: readonly {
    readonly rule: string
    readonly status: 'qualified' | 'waiting' | 'failed' | 'refused' | 'already_counted'
  }[]
}

/** Responds with the customers of the affiliate, and what became of each under the rules that pay once. */
export async function showCustomers(c: Context<AppEnv>, visit: MemberVisit): Promise<Response> {
  const { words, language } = visit
  const cursor = c.req.query('cursor')
  const { data, meta } = await visit.get<List<Customer>>('/customers', { cursor })
  return respond(
    c,
    <MemberPage visit={visit} here="customers" title={words.customers}>
      <Table
        caption={words.customers}
        rows={data}
        columns={[
          {
            title: words.customer,
            cell: ({ customer }: Customer) => (
              <>
                <Data text={customer ?? '–'} />
                {customer !== null && customer !== 'hidden' && (
                  <>
                    {' '}
                    <AskLink visit={visit} about={{ customer }} />
                  </>
                )}
              </>
            ),
          },
          {
            title: words.signup_day,
            cell: ({ signup_day }: Customer) => dayText(signup_day, language),
          },
          { title: words.country, cell: ({ country_code }: Customer) => country_code ?? '–' },
          {
            title: words.state,
            cell: ({ states }: Customer) =>
              states.length === 0 ? (
                '–'
              ) : (
                <ul>
                  {states.map(({ rule, status }) => (
                    <li>{fill(words.rule, { rule, state: words[`state_${status}`] })}</li>
                  ))}
                </ul>
              ),
          },
        ]}
        empty={<p class="note">{words.no_customers}</p>}
      />
      <NextPage visit={visit} at="/customers" cursor={meta.next_cursor} />
    </MemberPage>,
  )
}
