import { ACT, type Fill, LIMIT_BYTES, type Quota, WARN } from './fill.ts'

/** The number of accounts listed for each database. */
const LISTED_ACCOUNTS = 5

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const percent = (share: number) => `${(share * 100).toFixed(1)} %`

function size(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(2)} GB`
  return bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e3).toFixed(1)} kB`
}

/** Formats what `npm run capacity` prints about a database, with the quotas of all accounts. */
export function formatFill(fill: Fill, quotas: readonly Quota[]): string {
  const { binding, name, bytes, share, records, accounts, writtenToday, growth, daysLeft } = fill
  const lines = [
    `${binding} (${name}): ${size(bytes)}, ${percent(share)} of ${size(LIMIT_BYTES)}`,
    `  ${whole.format(records)} records, accounts: ${accounts.length}`,
    ...accounts.slice(0, LISTED_ACCOUNTS).map((one) => {
      const part = percent(one.records / records)
      const quota = quotas.find(({ account }) => account === one.account)
      const stored = `${size(one.bytes)}${quota ? ` of ${size(quota.quota)}` : ''}`
      return `    ${one.account}: ${whole.format(one.records)} (${part}), ${stored}`
    }),
  ]
  if (accounts.length > LISTED_ACCOUNTS)
    lines.push(`    and ${accounts.length - LISTED_ACCOUNTS} more`)
  const promised = quotas.filter((quota) => quota.binding === binding)
  if (promised.length > 0) {
    const sum = promised.reduce((all, { quota }) => all + quota, 0)
    const owners = promised.length === 1 ? '1 account' : `${promised.length} accounts`
    const part = `${percent(sum / LIMIT_BYTES)} of ${size(LIMIT_BYTES)}`
    lines.push(`  quotas: ${size(sum)} for ${owners}, ${part}`)
    if (sum > LIMIT_BYTES)
      lines.push('  OVERCOMMITTED: it can be full before an account reaches its quota')
  }
  if (writtenToday !== null) lines.push(`  ${whole.format(writtenToday)} rows written in 24 h`)
  if (growth !== null && daysLeft !== null)
    lines.push(`  grows by about ${size(growth)} a day: full in ${whole.format(daysLeft)} days`)
  if (share >= WARN) {
    const [state, when] = share >= ACT ? ['NEARLY FULL', 'now'] : ['filling up', 'soon']
    lines.push(`  ${state}: create new accounts in another database ${when}, see docs/runbook.md`)
  }
  return lines.join('\n')
}
