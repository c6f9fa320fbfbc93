// The kinds of changes by which the audit log can be filtered.

/** A kind of changes: its name, and the first words of its actions. */
interface AuditKind {
  readonly name: string
  readonly words: readonly string[]
}

/** The kinds of changes, by the value of the filter. */
export const AUDIT_KINDS: Readonly<Record<string, AuditKind>> = {
  account: { name: 'Account settings', words: ['account'] },
  affiliates: {
    name: 'Affiliates and their plans',
    words: [
      'affiliate',
      'affiliates',
      'affiliate-invitation',
      'affiliate-member',
      'affiliate-question',
      'affiliate-view',
      'assignment',
      'assignments',
    ],
  },
  customers: {
    name: 'Customers',
    words: ['affiliations', 'customer', 'customers', 'erasures', 'refusal'],
  },
  plans: { name: 'Plans', words: ['plan'] },
  statements: {
    name: 'Statements and payments',
    words: ['statement', 'period', 'payouts', 'manual'],
  },
  exports: { name: 'Exports and archives', words: ['export', 'archive'] },
  rates: { name: 'Exchange rates', words: ['fx-rates'] },
  links: { name: 'Links', words: ['link'] },
  meanings: {
    name: 'Mappings and event definitions',
    words: ['status', 'kyc_status_id', 'sales_status_id', 'event-definition'],
  },
  credentials: { name: 'Credentials', words: ['client', 'brand-token', 'affiliate-key'] },
  webhooks: { name: 'Webhooks and postbacks', words: ['webhook', 'postback'] },
  fraud: {
    name: 'Fraud rules and cases',
    words: ['fraud-rule', 'fraud-case', 'fraud', 'case', 'cases'],
  },
}
