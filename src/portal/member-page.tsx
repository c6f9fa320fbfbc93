import type { Child } from 'hono/jsx'
import type { Language } from '../languages.ts'
import { type Place, PortalPage, portalPath } from './layout.tsx'
import type { MemberVisit } from './visit.ts'

/** Writes an instant (RFC 3339) in a language, in UTC. */
export const timeText = (instant: string, language: Language): string =>
  new Intl.DateTimeFormat(language, {
    ...{ dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' },
  }).format(new Date(instant))

/** Writes a day (`YYYY-MM-DD`) in a language. */
export const dayText = (day: string, language: Language): string =>
  new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(day))

/** Writes a month (`2026-10`) in a language; a week as it is. */
export const periodText = (period: string, language: Language): string =>
  /^\d{4}-\d\d$/.test(period)
    ? new Intl.DateTimeFormat(language, {
        ...{ month: 'long', year: 'numeric', timeZone: 'UTC' },
      }).format(new Date(period))
    : period

/** Writes an exact decimal in a language, with its currency: `1.234,50 EUR`. */
export const moneyIn = (amount: string, currency: string, language: Language): string => {
  const minimumFractionDigits = amount.split('.')[1]?.length ?? 0
  const format = new Intl.NumberFormat(language, { minimumFractionDigits })
  // A text keeps all its digits, which a number would not.
  return `${format.format(amount as `${number}`)} ${currency}`
}

/** Renders a page of a member who is signed in. */
export const MemberPage = (props: {
  visit: MemberVisit
  here: Place
  title: string
  children?: Child
}) => {
  const { account, language, member, csrf } = props.visit
  const affiliate = member.display_name ?? member.affiliate_id
  return (
    <PortalPage
      language={language}
      account={account}
      title={props.title}
      signedIn={{ name: member.name, affiliate, csrf, here: props.here }}
    >
      {props.children}
    </PortalPage>
  )
}

/** Renders the link to the next page of a list; nothing on the last one. `at` is the path below that of the account. */
export const NextPage = (props: { visit: MemberVisit; at: string; cursor: string | null }) => {
  const { visit, at, cursor } = props
  return cursor === null ? null : (
    <p>
      <a href={`${portalPath(visit.account.id, at)}?${new URLSearchParams({ cursor })}`}>
        {visit.words.more}
      </a>
    </p>
  )
}
