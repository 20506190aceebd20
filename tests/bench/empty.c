/* SPDX-License-Identifier: Apache-2.0 */
/* The floor of every ratio: what a process costs that does nothing. */
int main(void) { return 0; }
