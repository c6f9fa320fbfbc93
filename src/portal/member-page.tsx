import type { Child } from 'hono/jsx'
import type { Language } from '../languages.ts'
import { type Place, PortalPage } from './layout.tsx'
import type { MemberVisit } from './visit.ts'

/** Writes an instant (RFC 3339) in a language, in UTC. */
export const timeText = (instant: string, language: Language): string =>
  new Intl.DateTimeFormat(language, {
    ...{ dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' },
  }).format(new Date(instant))

/** Writes a day (`YYYY-MM-DD`) in a language. */
export const dayText = (day: string, language: Language): string =>
  new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(day))

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
