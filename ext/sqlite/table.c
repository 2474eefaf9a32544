/* The definition of a table of the frame. See table.h. */
#include "sqlite/table.h"

/* --- Arguments --- */

int zt_table_arguments(const zt_table *table){
  int n = 0;
  while( n<ZT_ARGUMENTS && table->arguments[n] ) n++;
  return n;
}

int zt_table_argument(const zt_table *table, const char *name){
  for(int i=zt_table_arguments(table)-1; i>=0; i--){
    if( strcmp(table->arguments[i], name)==0 ) return i;
  }
  return -1;
}

/* --- Columns --- */

/* The number of SQLite's columns between visible and hidden ones: source, the arguments after it,
** and the column that catches one argument too many. */
static int table_between(const zt_table *table){
  return 2 + zt_table_arguments(table);
}

zt_text zt_table_name(const zt_table *table, int i){
  const bool hidden = i>=table->nVisible;
  const char *z = hidden ? table->hidden : table->visible;
  for(int k=hidden ? table->nVisible : 0; z && k<i; k++){
    z = strchr(z, ',');
    if( z ) z += 1+strspn(z+1, " ");
  }
  return (zt_text){ z, z ? strcspn(z, " ,") : 0 };
}

int zt_table_number(const zt_table *table, int i){
  return i<table->nVisible ? i : i + table_between(table);
}

int zt_table_column(const zt_table *table, int number){
  if( number<table->nVisible ) return number;
  number -= table_between(table);
  return number>=table->nVisible ? number : -1;
}

int zt_table_surplus(const zt_table *table){
  return table->hidden ? table->nVisible + table_between(table) - 1 : -1;
}
