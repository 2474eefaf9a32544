/* Encoders of zTensor refuse an attribute that is nested deeper than our readers allow, and no other. */
#include "drafts.h"

/* n arrays around an integer, or around nothing. */
static size_t nested(uint8_t *out, int n, bool empty){
  memset(out, 0x81, (size_t)n);
  if( empty ) out[n-1] = 0x80;
  else out[n] = 1;
  return (size_t)n+(empty ? 0 : 1);
}

static void check_depth(const char *format, bool of_object, int levels, bool empty, const char *message){
  uint8_t value[128];
  const zt_draft_attribute a = {
    .key = ZT_TEXT("k"), .value = { value, nested(value, levels, empty) }, .stored_type = ZT_TEXT("")
  };
  zt_error err = ZT_ERROR_NONE;
  zt_encoder_named(zt_text_of(format))->check_attribute(&a, of_object, &err);
  if( message ) assert_failed(&err, message, format);
  else assert_succeeded(&err, format);
}

TEST(test_depth_of_attributes){
  const struct { const char *format; bool of_object; int most; bool empty; } trials[] = {
    { "ztensor-2", false, 30, false }, { "ztensor-2", false, 31, true }, { "ztensor-2", true, 28, false },
    { "ztensor-2", true, 29, true }, { "ztensor-1.2", false, 62, false }, { "ztensor-1.2", false, 62, true },
    { "ztensor-1.2", true, 60, false }, { "ztensor-1.2", true, 60, true }
  };
  for(size_t i=0; i<sizeof(trials)/sizeof(*trials); i++){
    const bool old = trials[i].format[8]=='1';
    char message[128];
    sqlite3_snprintf(sizeof(message), message, "attribute 'k' is nested deeper than %d levels, which readers refuse;"
                     " make it flatter, or text", (old ? 64 : 32)-(trials[i].of_object ? 4 : 2));
    check_depth(trials[i].format, trials[i].of_object, trials[i].most, trials[i].empty, NULL);
    check_depth(trials[i].format, trials[i].of_object, trials[i].most+1, trials[i].empty, message);
  }
}

int main(void){
  return run_all("encoder_depth", NULL, NULL);
}
