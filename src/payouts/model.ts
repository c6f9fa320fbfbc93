import type { bankMovements, payees, payoutBatches, transfers } from '../platform/db/schema.ts'
import { DAY_MS } from '../platform/durations.ts'

// What is paid to whom (contract §20).

/** How a payee is paid. `manual`: outside of the service. */
export const METHODS = ['sepa', 'bank', 'wise', 'paypal', 'wallet', 'manual'] as const

/** How a payee is paid. */
export type Method = (typeof METHODS)[number]

/** A postal address, in the parts that banks ask for. */
export interface Address {
  readonly street?: string
  readonly building?: string
  readonly postcode?: string
  readonly city: string
  /** An ISO 3166 code. */
  readonly country: string
}

/** Bank details of a payee, or of a payer. IBANs, BICs and numbers of accounts are without spaces, in capitals. */
export interface Details {
  /** The owner of the account, at most 70 characters. */
  readonly name: string
  readonly kind: 'person' | 'company'
  readonly email?: string
  readonly address: Address
  readonly method: Method
  readonly iban?: string
  /** The number of an account that has no IBAN. */
  readonly account?: string
  readonly account_type?: 'checking' | 'savings'
  readonly bic?: string
  /** The ABA routing number of a bank in the United States. */
  readonly routing?: string
  /** The currency of the account; of a payer always there. */
  readonly currency?: string
  readonly network?: string
  readonly asset?: string
  readonly wallet_address?: string
  readonly tax?: {
    readonly vat_id?: string
    readonly treatment?: string
    readonly exempt_reason?: string
  }
}

/** The states of details. `missing`: never entered, or erased. */
export const DETAILS_STATES = ['missing', 'entered', 'approved', 'returned', 'blocked'] as const

/** Whose details they are: those of an affiliate, or of the account, which pays. */
export type Party = 'payee' | 'payer'

/** A stored version of details. */
export type StoredDetails = Omit<typeof payees.$inferSelect, 'account'>

/** A stored batch. */
export type StoredBatch = Omit<typeof payoutBatches.$inferSelect, 'account'>

/** A stored transfer. */
export type StoredTransfer = Omit<typeof transfers.$inferSelect, 'account'>

/** A payment of an order. Its id is the reference. */
export interface Paid extends Pick<StoredTransfer, 'id' | 'affiliate_id' | 'amount'> {
  readonly details: Details
  /** What it pays. */
  readonly statements: readonly { readonly period: string }[]
}

/** What a file orders: everything that its bytes depend on. */
export interface PaymentOrder
  extends Pick<StoredBatch, 'id' | 'method' | 'currency' | 'execute_on' | 'created_at'> {
  readonly payer: Details
  readonly transfers: readonly Paid[]
}

/** The states of a transfer. Those before `paid` are under way. */
export const TRANSFER_STATES = [
  'created',
  'exported',
  'accepted',
  'paid',
  'returned',
  'rejected',
  'cancelled',
] as const

/** The state of a transfer. */
export type TransferState = (typeof TRANSFER_STATES)[number]

/**
 * Why a movement that names a transfer is not booked: it left twice, it left although the transfer was cancelled or
 * rejected, or anything else. It stands open until a person has looked.
 */
export const MOVEMENT_DOUBTS = ['paid_twice', 'paid_after_cancel', 'not_booked'] as const

/** Why a movement is not booked. */
export type MovementDoubt = (typeof MOVEMENT_DOUBTS)[number]

/** A stored movement of money. */
export type StoredMovement = Omit<typeof bankMovements.$inferSelect, 'account'>

/**
 * Why something cannot be paid. Those of a batch come last: it pays by another method or in another currency, it is full,
 * or another payment has taken what it would pay.
 */
export const REASONS = [
  'held',
  'no_payee',
  'not_approved',
  'changed',
  'blocked',
  'suspended',
  'no_agreement',
  'no_treatment',
  'other_currency',
  'other_method',
  'next_batch',
  'taken',
] as const

/** Why something cannot be paid. */
export type Reason = (typeof REASONS)[number]

/** The reasons with which a batch of method `manual` pays nevertheless, if a person says why. */
export const BY_HAND: readonly Reason[] = ['no_payee', 'other_currency', 'other_method']

/** What a person should look at before they pay. */
export const DOUBTS = [
  'came_back',
  'open_case',
  'paid_twice',
  'details_changed',
  'first_payment',
  'same_account',
  'much_more',
] as const

/** What a person should look at. */
export type DoubtCode = (typeof DOUBTS)[number]

/** The doubts with which nothing is paid before a person has waived them. */
export const STOPPING: readonly DoubtCode[] = DOUBTS.slice(0, 3)

/** The limits of payouts. */
export const PAYOUT_LIMITS = {
  /** The transfers of a batch: as many rows as PayPal accepts. */
  transfers: 5000,
  /** The rows of a file of bank details. */
  payees: 1000,
  /** The size of an answer of a bank, in bytes. */
  answerBytes: 10 * 1024 * 1024,
  /** How many days ahead a batch is executed at most. */
  daysAhead: 60,
  /** How long the preview of an answer can be applied, in milliseconds. */
  previewMs: DAY_MS,
  /** How long a prepared batch can be confirmed, in milliseconds. */
  preparedMs: 7 * DAY_MS,
}

/** Where the money of an approved statement may be. What comes first stands first. */
export const MONEY_STATES = [
  'sent',
  'preparing',
  'approved',
  'came_back',
  'no_details',
  'under_review',
  'paid',
] as const

/** Where the money of an approved statement is. */
export type MoneyState = (typeof MONEY_STATES)[number]
