import type { DemoAccount } from './client.ts'
import { DEMO } from './demo-accounts.ts'
import type { MemberKeys } from './members.ts'

/** Returns the text that `npm run dev` prints when the service is ready: the demo broker, or all accounts. */
export function banner(
  base: string,
  keys: MemberKeys & { readonly admin: string },
  accounts: readonly DemoAccount[],
  isVerbose: boolean,
): string {
  const forex = accounts.find(({ vertical }) => vertical === 'forex')!
  const brand = accounts.find((account) => account.brand_token)!
  const shown = new URLSearchParams({
    name: 'the demo accounts',
    CLIENT_ID: forex.client_id!,
    CLIENT_SECRET: forex.client_secret!,
    BRAND_TOKEN: brand.brand_token!,
    LINK: `${base}/go/${brand.link_id}`,
    ADMIN_KEY: keys.admin,
  })
  const signIn = (key: string) => `${base}/console/sign-in#key=${key}`
  return `
Tributary is ready at ${base}
Console, as each of three persons, in a browser window of its own:
  manager          ${signIn(keys.manager)}
  approver         ${signIn(keys.approver)}
  second approver  ${signIn(keys.second_approver)}
E-mails, which nobody is sent: ${base}/console/outbox
Documentation, with the keys in its examples: ${base}/docs/start#${shown}
${(isVerbose ? accounts : [forex]).map((account) => describeAccount(base, account)).join('')}
${DEMO} has the keys of all demo accounts but demo-broker. ${isVerbose ? CRON(base) : '`npm run dev -- --verbose` prints more.'}
`
}

const CRON = (base: string) =>
  `The cron jobs run at their times. To run those of each minute now:
curl "${base}/cdn-cgi/handler/scheduled?cron=*+*+*+*+*"`

function describeAccount(base: string, account: DemoAccount): string {
  const { client_id, client_secret, brand_token, link_id } = account
  // The variables that the commands of the guide use.
  const credentials = brand_token
    ? `BRAND_TOKEN=${brand_token} LINK=${base}/go/${link_id}`
    : `CLIENT_ID=${client_id} CLIENT_SECRET=${client_secret}`
  return `
${account.name} (${account.vertical}, account ${account.account})
BASE=${base} ${credentials}
${sampleRequest(base, account)}
`
}

const CUSTOMERS: Readonly<Record<string, object>> = {
  'prop-trading': { affiliate_id: 'AFF-1', challenge_type: 'standard', phase: 'phase_1' },
  forex: { affiliate_id: 'IB-07', leverage: '1:100' },
}

/** Returns a command for a shell that sends one customer, the first record of every account. */
export function sampleRequest(base: string, account: DemoAccount): string {
  const { vertical, client_id, client_secret, brand_token, link_id } = account
  if (brand_token) {
    // The link is followed like a visitor would, so the customer is attributed to its affiliate.
    const follow = `curl -s -o /dev/null -w '%{redirect_url}' ${base}/go/${link_id}`
    const customer = {
      customerId: 'P-2101',
      regtime: '2026-10-20 08:30',
      country: 'DE',
      tracking_data: 'TRACKING',
    }
    const body = JSON.stringify([customer]).replace(
      'TRACKING',
      `'$(${follow} | sed 's/.*tracking_data=//')'`,
    )
    return post(`${base}/tracking/events/customers`, `x-api-key: ${brand_token}`, body)
  }
  const token = `curl -s -u ${client_id}:${client_secret} ${base}/oauth/token -d grant_type=client_credentials`
  const customer = {
    customer_id: 'C-2101',
    signup_date: '2026-10-20T08:30:00Z',
    tracking_data: 'click-42',
    ...CUSTOMERS[vertical],
  }
  return post(
    `${base}/api/v1/${vertical}/customers`,
    `Authorization: Bearer $(${token} | sed 's/.*"access_token":"//; s/".*//')`,
    JSON.stringify([customer]),
  )
}

const post = (url: string, credential: string, body: string) =>
  `curl -s ${url} -H "${credential}" -H 'Content-Type: application/json' -d '${body}'`
