import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { adminCalls } from '../scripts/dev/client.ts'
import { createAccount, PLANS } from '../scripts/dev/demo-accounts.ts'
import { type Demo, startService } from './service.ts'

// One service for the files that need only accounts of their own. `npm test` offers it: the first file
// that asks starts it, and it ends after the last file. A file that runs alone starts its own.

/** The variable with the address at which `npm test` hands out the accounts of its service. */
const OFFER = 'TRIBUTARY_SHARED_SERVICE'

/** The longest wait for the service and its accounts, in milliseconds. */
const START_LIMIT_MS = 60_000

/** What a file gets: a service, and the accounts that only it uses. */
export interface Shared {
  /** The folder of the service. */
  root: string
  demo: Demo
  /** Ends the service, unless other files use it, and asserts that it stored and printed no secret. */
  stop: () => Promise<void>
}

/**
 * Creates accounts for a user, configured like those of the demo. The search for stored secrets at the
 * end covers them, too. The user `demo` gets the demo accounts; any other is a beginning of account ids.
 */
async function addUser({ demo, root }: Awaited<ReturnType<typeof startService>>, user: string) {
  if (user === 'demo') {
    const isOfDemo = ({ account }: { account: string }) => account.startsWith('demo-')
    return { root, demo: { ...demo, accounts: demo.accounts.filter(isOfDemo) } }
  }
  const call = adminCalls(demo.base_url, demo.admin_key)
  const created = PLANS.map((plan) =>
    createAccount(call, { ...plan, account: plan.account.replace('demo', user) }),
  )
  const accounts = (await Promise.all(created)) as Demo['accounts']
  demo.accounts.push(...accounts)
  return { root, demo: { ...demo, accounts } }
}

/** Offers a service to all files. Returns a function that ends it, if a file has asked for it. */
export async function offerService(): Promise<() => Promise<void>> {
  let started: ReturnType<typeof startService> | undefined
  const users = new Set<string>()
  const server = createServer(async (request, response) => {
    const user = request.url!.slice(1)
    const answer = async () => {
      assert.ok(!users.has(user), `two files are the user ${user}`)
      users.add(user)
      started ??= startService()
      return addUser(await started, user)
    }
    const { status, body } = await answer().then(
      (shared) => ({ status: 200, body: JSON.stringify(shared) }),
      (error) => ({ status: 500, body: String(error) }),
    )
    response.writeHead(status).end(body)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  process.env[OFFER] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return async () => {
    server.close()
    server.closeAllConnections()
    const service = await started
    await service?.stop()
  }
}

/** Returns the service that `npm test` offers, or one of its own, with accounts for this user. */
export async function shareService(user: string): Promise<Shared> {
  const offer = process.env[OFFER]
  if (!offer) {
    const service = await startService()
    return { ...(await addUser(service, user)), stop: service.stop }
  }
  const signal = AbortSignal.timeout(START_LIMIT_MS)
  const response = await fetch(`${offer}/${user}`, { signal })
  const body = await response.text()
  assert.equal(response.status, 200, body)
  return { ...JSON.parse(body), stop: async () => {} }
}
