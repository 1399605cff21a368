// JSON that costs far more to parse than it has bytes.

/** 22 MiB once parsed for each MiB of text. */
export function emptyObjects(bytes: number): Buffer {
  const [begin, end] = ['{"action":"x","a":[{}', ']}'];
  return Buffer.from(begin + ',{}'.repeat(Math.floor((bytes - begin.length - end.length) / 3)) + end);
}

/** A hundred in each object: V8 makes a hidden class for each further name, which takes seconds of the processor and up to 70 MiB for each MiB of text. */
export function ownNames(members: number): Buffer {
  const object = (first: number) => `{${Array.from({ length: 100 }, (_, n) => `"k${(first + n).toString(36)}":1`).join(',')}}`;
  return Buffer.from(`{"action":"x","a":[${Array.from({ length: members / 100 }, (_, n) => object(n * 100)).join(',')}]}`);
}
