import { sha256 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'

// Addresses of wallets, in the forms of their networks.

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Returns the bytes of a text in base 58; none if it has other characters. */
function fromBase58(text: string): Uint8Array {
  let number = 0n
  for (const letter of text) {
    const digit = BASE58.indexOf(letter)
    if (digit < 0) return new Uint8Array()
    number = number * 58n + BigInt(digit)
  }
  const zeros = text.search(/[^1]|$/)
  const hex = number === 0n ? '' : number.toString(16)
  return Uint8Array.fromHex('00'.repeat(zeros) + hex.padStart(hex.length + (hex.length % 2), '0'))
}

/** @see EIP-55: the letters that are capital are the check of an address. */
function isEvm(text: string): boolean {
  if (!/^0x[\dA-Fa-f]{40}$/.test(text)) return false
  const small = text.slice(2).toLowerCase()
  const hash = keccak_256(new TextEncoder().encode(small)).toHex()
  const cased = [...small].map((c, i) => ((hash[i] ?? '') >= '8' ? c.toUpperCase() : c))
  return text === `0x${cased.join('')}`
}

/** Returns whether a text is an address of Solana: a key of 32 bytes, without a check. */
const isSolana = (text: string) => /^\w{32,44}$/.test(text) && fromBase58(text).length === 32

/** Returns whether a text is an address of Tron: a prefix, 20 bytes, and four of their digest. */
function isTron(text: string): boolean {
  if (!/^T\w{33}$/.test(text)) return false
  const bytes = fromBase58(text)
  const [body, check] = [bytes.slice(0, 21), bytes.slice(21)]
  return body[0] === 0x41 && check.toHex() === sha256(sha256(body)).slice(0, 4).toHex()
}

const EVM = {
  isAddress: isEvm,
  expected:
    'an address of this network: 0x and 40 digits and letters from A to F, capital and small as the wallet shows them',
}

/** The networks on which wallets are paid, and the addresses of each. */
export const NETWORKS = {
  ethereum: EVM,
  base: EVM,
  polygon: EVM,
  solana: {
    isAddress: isSolana,
    expected: 'an address of Solana: 32 to 44 letters and digits, as the wallet shows them',
  },
  tron: {
    isAddress: isTron,
    expected: 'an address of Tron: T and 33 letters and digits, as the wallet shows them',
  },
} as const

/** Returns whether a text is the address of a wallet of some network. */
export const isWallet = (text: string): boolean => isEvm(text) || isSolana(text) || isTron(text)
