// What the actions of the audit log are called, by the kinds by which the log can be filtered.

/** A kind of actions: its name, and what each of its actions says after the name of who acted. */
interface AuditKind {
  readonly name: string
  readonly actions: Readonly<Record<string, string>>
}

/** The kinds of actions, by the value of the filter. Actions with the same first word have the same kind. */
export const AUDIT_KINDS: Readonly<Record<string, AuditKind>> = {
  account: {
    name: 'Account settings',
    actions: {
      'account.create': 'created the account',
      'account.change': 'changed the settings of the account',
      'account.lower-approvals':
        'asked that fewer persons be enough to approve; another approver must ask for the same',
      'account.reset': 'deleted all records of the test account',
      'account.move.start': 'started to move the account to another database',
      'account.moved': 'moved the account to another database',
      'account.move.cancel': 'cancelled the move of the account to another database',
      'account.move.fail': 'could not move the account to another database',
      'account.move.confirm': 'asked to delete the old copy of the account',
      'account.move.drop': 'deleted the old copy of the account',
    },
  },
  affiliates: {
    name: 'Affiliates and their plans',
    actions: {
      'affiliate.delete': 'deleted an affiliate',
      'affiliates.put': 'stored affiliates',
      'affiliate-invitation.create': 'invited a person for an affiliate',
      'affiliate-invitation.end': 'ended an invitation',
      'affiliate-member.join': 'registered a passkey by an invitation',
      'affiliate-member.remove': 'removed a member of an affiliate',
      'affiliate-passkey.add': 'added a passkey',
      'affiliate-passkey.remove': 'removed a passkey',
      'affiliate-view.begin': 'looked at the portal as an affiliate',
      'affiliate-question.ask': 'asked a question',
      'affiliate-question.add': 'wrote more about a question',
      'affiliate-question.answer': 'answered a question',
      'affiliate-question.close': 'closed a question',
      'affiliate-question.open': 'opened a question again',
      'assignment.delete': 'removed a plan from an affiliate',
      'assignments.put': 'assigned plans to affiliates',
    },
  },
  customers: {
    name: 'Customers',
    actions: {
      'affiliations.put': 'corrected who referred a customer',
      'customer.erase': 'erased the personal data of a customer',
      'erasures.replay': 'repeated the erasure of customers after a restore',
      'refusal.put': 'excluded a customer from commission',
      'refusal.delete': 'lets a customer earn commission again',
    },
  },
  plans: {
    name: 'Plans',
    actions: {
      'plan.put': 'stored a version of a plan',
      'plan.withdraw': 'withdrew a version of a plan',
    },
  },
  statements: {
    name: 'Statements and payments',
    actions: {
      'statement.approve': 'approved a statement',
      'statement.pay': 'marked a statement as paid',
      'statement.return': 'recorded that a payment came back',
      'period.run': 'had the statements of a period computed',
      'period.approve': 'approved a period',
      'period.close': 'closed a period',
      'payouts.book': 'booked payments',
      'manual.add': 'added an amount to the balance of an affiliate',
    },
  },
  exports: {
    name: 'Exports and archives',
    actions: {
      'export.start': 'started an export for the warehouse',
      'archive.start': 'had the records of a month archived',
      'archive.load': 'had the archived records of a month loaded',
    },
  },
  rates: {
    name: 'Exchange rates',
    actions: { 'fx-rates.put': 'stored exchange rates of the European Central Bank' },
  },
  links: {
    name: 'Links',
    actions: { 'link.create': 'created a link', 'link.change': 'changed a link' },
  },
  meanings: {
    name: 'Mappings and event definitions',
    actions: {
      'status.put': 'set what the values of the transaction status mean',
      'kyc_status_id.put': 'set what the values of the KYC status mean',
      'sales_status_id.put': 'set what the values of the sales status mean',
      'event-definition.put': 'defined an event',
      'event-definition.delete': 'deleted the definition of an event',
    },
  },
  credentials: {
    name: 'Credentials',
    actions: {
      'client.issue': 'issued credentials',
      'client.rotate': 'replaced the secret of credentials',
      'client.revoke': 'ended credentials',
      'brand-token.regenerate': 'made a new token of the brand',
      'brand-token.revoke': 'ended a token of the brand',
      'affiliate-key.create': 'made a key for an affiliate',
      'affiliate-key.end': 'ended a key of an affiliate',
    },
  },
  webhooks: {
    name: 'Webhooks and postbacks',
    actions: {
      'webhook.create': 'created a webhook',
      'webhook.change': 'changed a webhook',
      'webhook.delete': 'deleted a webhook',
      'webhook.disable': 'stopped a webhook, whose address does not answer',
      'webhook.replay': 'sent events to a webhook again',
      'webhook.rotate': 'replaced the secret of a webhook',
      'webhook.test': 'sent a test event to a webhook',
      'postback.create': 'created a postback',
      'postback.change': 'changed a postback',
      'postback.delete': 'deleted a postback',
      'postback.disable': 'stopped a postback, whose address does not answer',
      'postback.replay': 'sent events to a postback again',
      'postback.test': 'sent a test event to a postback',
    },
  },
  fraud: {
    name: 'Fraud rules and cases',
    actions: {
      'fraud-rule.put': 'stored a version of a fraud rule',
      'fraud-rule.withdraw': 'withdrew a version of a fraud rule',
      'fraud-rule.disable': 'disabled a fraud rule',
      'fraud-rule.run': 'evaluated the fraud rules',
      'fraud-case.decide': 'decided a case of the fraud review',
      'fraud-case.hold': 'found that a case now holds payouts',
      'fraud-case.note': 'wrote a note about a case of the fraud review',
    },
  },
}

/** What each action says after the name of who acted. */
export const ACTION_WORDS: Readonly<Record<string, string>> = Object.assign(
  {},
  ...Object.values(AUDIT_KINDS).map(({ actions }) => actions),
)

/** Returns the first words of the actions of a kind: `plan` is that of `plan.put`. */
export const wordsOfKind = (kind: string): string =>
  [...new Set(Object.keys(AUDIT_KINDS[kind]?.actions ?? {}).map((one) => one.split('.')[0]))].join()
