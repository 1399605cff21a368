// Work on a sequence, several items at once, begun in its order.

/** Each step says whether to go on; after a false none is begun. The first goes alone: a world that is down is asked once.
 *  @returns whether all of it was gone through */
export async function inOrder<T>(items: AsyncIterable<T>, width: number, step: (item: T) => Promise<boolean>): Promise<boolean> {
  const iterator = items[Symbol.asyncIterator]();
  let goOn = true;
  let failure: { readonly error: unknown } | undefined;

  async function worker(most: number): Promise<void> {
    for (let done = 0; goOn && done < most; done += 1) {
      const next = await iterator.next();
      if (next.done === true) return;
      // an item that was taken is always worked on: only the step can give it back
      if (!(await step(next.value))) goOn = false;
    }
  }
  const guarded = async (most: number) => {
    try {
      await worker(most);
    } catch (error) {
      goOn = false;
      failure ??= { error };
    }
  };

  await guarded(1);
  await Promise.all(Array.from({ length: width }, () => guarded(Infinity)));
  await iterator.return?.();
  if (failure) throw failure.error;
  return goOn;
}
