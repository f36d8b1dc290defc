/** An OpenPGP key that gpg made, and signatures of gpg and ssh-keygen, to be mutated. */

/** The bytes that were signed. */
export const SIGNED = Buffer.from('signed bytes')

/** Public key of `Ada <ada@example.com>`, in base64. */
export const OPENPGP_KEY = [
  'mDMEawniGRYJKwYBBAHaRw8BAQdA/nngMWDsd0vx+1xZb1I4PatOLYXtLJUZ4AfdFj6lq6W0FUFk',
  'YSA8YWRhQGV4YW1wbGUuY29tPoiQBBMWCAA4FiEECjaHfpv9sezzJl6LGzKXwGyXY8QFAmsJ4hkC',
  'GwMFCwkIBwIGFQoJCAsCBBYCAwECHgECF4AACgkQGzKXwGyXY8SPxgEAuRkXKw76LfEHyfZaKMbh',
  '6FeyYGlTpo16ToQNxvv1rYwA/1YazAFdmd062vAtasWj+AIBMIqAreZgBJiah/4oEYIF',
].join('')

/** Signature by the key, in base64. */
export const OPENPGP_SIGNATURE = [
  'iHUEABYIAB0WIQQKNod+m/2x7PMmXosbMpfAbJdjxAUCawniGQAKCRAbMpfAbJdjxI9HAP4nL3cW',
  'ZS/c5Rk0vzD2vNYhnD+IEgF9Fq1S6M5kPM4FdAD/e1sp4HVpjMC8dWB1TmiiyiYcVQM3TgLZ0KU6',
  'BsLTaQg=',
].join('')

/** Armored signature by an SSH key. */
export const SSH_SIGNATURE = [
  '-----BEGIN SSH SIGNATURE-----',
  'U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAg8o61tgk+oRpr/nfRGPMjmhqop7',
  'bK0tR5TN3ltWNMRRoAAAADZ2l0AAAAAAAAAAZzaGE1MTIAAABTAAAAC3NzaC1lZDI1NTE5',
  'AAAAQDyDGIQvm8cAX1oQT/vzMGYZDTAXIYgcCIYKpL4vjULK2Q4Fuu/2X3KNYAw4/B0Zn3',
  'QJ/EgHyYucUBNVcu7fcQ4=',
  '-----END SSH SIGNATURE-----',
].join('\n')
