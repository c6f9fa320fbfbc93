// What the teams of the demo accounts call their affiliates, and how they reach them. All of it is invented.

const NAMES: Readonly<Record<string, readonly [name: string, mailbox: string]>> = {
  'IB-1': ['Alpine Markets', 'partners@alpine-markets.example'],
  'IB-2': ['Lukas Brandt', 'lukas@brandt-trading.example'],
  'IB-3': ['Sofia Keller', 'sofia.keller@mail.example'],
  'IB-4': ['Gulf Traders Desk', 'desk@gulf-traders.example'],
  'IB-5': ['Marta Nowak', 'marta@nowak-finance.example'],
  'AFF-1': ['Broker Compare', 'affiliates@broker-compare.example'],
  'AFF-2': ['Daily Pips', 'team@daily-pips.example'],
  'AFF-3': ['Chart School', 'hello@chart-school.example'],
  'US-1': ['Lakeside Media', 'partnerships@lakeside-media.example'],
  'US-2': ['Trading Notes', 'editor@trading-notes.example'],
  'IB-07': ['Nordic Capital Circle', 'office@nordic-circle.example'],
  'IB-08': ['Elena Petrov', 'elena@petrov-fx.example'],
  'IB-09': ['Iberia Brokers', 'contacto@iberia-brokers.example'],
  'BACK-1': ['Second Chance FX', 'info@second-chance-fx.example'],
  'CHURN-1': ['Fast Lots', 'contact@fast-lots.example'],
  'FAST-1': ['Quick Leads', 'sales@quick-leads.example'],
  'GEO-1': ['Worldwide Signups', 'growth@worldwide-signups.example'],
  'HEDGE-1': ['Twin Signals', 'admin@twin-signals.example'],
  'MIN-1': ['Starter Deposits', 'hello@starter-deposits.example'],
  'OVER-1': ['Premium Partners', 'office@premium-partners.example'],
  'PEAK-1': ['Campaign Works', 'team@campaign-works.example'],
  'REV-1': ['Bright Bonus', 'support@bright-bonus.example'],
  'RUSH-1': ['Weekend Traffic', 'media@weekend-traffic.example'],
  'SELF-1': ['Jonas Weber', 'jonas@weber-invest.example'],
  'STOP-1': ['First Step Media', 'desk@first-step-media.example'],
}

/** Returns the name and the e-mail address of an affiliate of the demo; nothing if it has none. */
export function profileOf(affiliate_id: string) {
  const [display_name, contact_email] = NAMES[affiliate_id] ?? []
  return { ...(display_name && contact_email && { display_name, contact_email }) }
}
