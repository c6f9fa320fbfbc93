import type { DemoAccount } from './demo.ts'

/** A customer and a transaction that the vertical takes. */
const SAMPLES: Record<string, { customer: object; transaction: object }> = {
  'prop-trading': {
    customer: { affiliate_id: 'AFF-1', challenge_type: 'standard', phase: 'phase_1' },
    transaction: { transaction_type: 'challenge_fee', amount_currency: 540, currency: 'USD' },
  },
  forex: {
    customer: { affiliate_id: 'IB-07', leverage: '1:100' },
    transaction: { transaction_type: 'deposit', amount_currency: 100.25, currency: 'EUR' },
  },
}

const JSON_TYPE = `-H 'Content-Type: application/json'`

/** Lines to copy and paste: say who you are, send, list, reconcile. */
export const curlLines = (base: string, account: DemoAccount): string =>
  (account.brand_token ? brandLines(base, account) : partnerLines(base, account)).join('\n')

/** Get a token, send a bulk of customers and one of transactions, list it, reconcile it. */
function partnerLines(base: string, { client_id, client_secret, vertical }: DemoAccount) {
  const { customer, transaction } = SAMPLES[vertical]!
  const at = `${base}/api/v1/${vertical}`
  const customers = [
    {
      customer_id: 'C-2001',
      signup_date: '2026-10-05T08:30:00Z',
      tracking_data: 'click-42',
      ...customer,
    },
  ]
  const transactions = [
    {
      transaction_id: 'T-2001',
      customer_id: 'C-2001',
      transaction_date: '2026-10-06T09:30:00Z',
      status: 'approved',
      ...transaction,
    },
  ]
  const bearer = '-H "Authorization: Bearer $TOKEN"'
  const post = (resource: string, body: unknown) =>
    `curl -s -X POST ${at}/${resource} ${bearer} ${JSON_TYPE} -d '${JSON.stringify(body)}'`
  const get = (path: string) => `curl -s '${at}/${path}' ${bearer}`
  return [
    `BASE=${base} TOKEN=$(curl -s ${base}/oauth/token -d grant_type=client_credentials -d client_id=${client_id} -d client_secret=${client_secret} | sed -n 's/.*"access_token":"\\([^"]*\\)".*/\\1/p')`,
    post('customers', customers),
    post('transactions', transactions),
    get('transactions?per_page=10'),
    get('totals?from=2026-10-01&to=2026-10-31'),
  ]
}

/** Follow the link as a visitor does, register the customer, report her day, reconcile it. */
function brandLines(base: string, { brand_token, link_id }: DemoAccount) {
  const at = `${base}/tracking/events`
  const customers = [
    {
      customerId: 'P-2001',
      regtime: '2026-10-05 08:30',
      country: 'DE',
      tracking_data: 'TRACKING',
    },
  ]
  const activities = [
    {
      eventname: 'DailyStats',
      customerid: 'P-2001',
      eventid: 'ds-P-2001-20261006-casino',
      createtime: '2026-10-06',
      Product: 'Casino',
      GGR: '12.50',
      NGR: '10.00',
      Bets: '100.00',
      Games: '40',
      Currency: 'EUR',
    },
  ]
  const key = '-H "x-api-key: $BRAND_TOKEN"'
  const post = (resource: string, body: unknown) => {
    const text = JSON.stringify(body).replace('TRACKING', `'$TRACKING'`)
    return `curl -s -X POST ${at}/${resource} ${key} ${JSON_TYPE} -d '${text}'`
  }
  const get = (path: string) => `curl -s '${at}/${path}' ${key}`
  return [
    `BASE=${base} BRAND_TOKEN=${brand_token} TRACKING=$(curl -s -o /dev/null -w '%{redirect_url}' ${base}/go/${link_id} | sed 's/.*tracking_data=//')`,
    post('customers', customers),
    post('activities', activities),
    get('activities?per_page=10'),
    get('totals?from=2026-10-01&to=2026-10-31'),
  ]
}
